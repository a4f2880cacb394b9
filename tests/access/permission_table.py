"""Table of permissions in the admin: an entry for each model, and for each URL that belongs to no model.

v: view, a: add, c: change, d: delete. Columns: owner, program chair, editor, session chair (own rows),
viewer. `TASKS` lists the roles by task.
A superuser may do everything; the owner of another edition may do nothing. A new URL needs an entry here.
"""

from accounts.roles import Role

ALL = "vacd"

MODELS: dict[str, tuple[str, str, str, str, str]] = {
    "api.token": ("vad", "vad", "vad", "vad", "vad"),  # Own tokens only.
    "auth.group": ("", "", "", "", ""),
    "auth.user": ("", "", "", "", ""),
    "conference.announcement": (ALL, ALL, ALL, "", "v"),
    "conference.conference": ("vc", "v", "v", "", "v"),
    "conference.edition": ("vc", "vc", "v", "", "v"),
    "conference.keydate": (ALL, ALL, ALL, "", "v"),
    "conference.menuitem": (ALL, ALL, ALL, "", "v"),
    "conference.page": (ALL, ALL, ALL, "", "v"),
    "conference.sponsor": (ALL, ALL, ALL, "", "v"),
    "exchange.columnmapping": ("vd", "vd", "vd", "", ""),
    "exchange.conflict": ("vc", "vc", "vc", "", ""),
    "exchange.importjob": ("vac", "vac", "vac", "", ""),
    "exchange.importrun": ("v", "v", "v", "", ""),
    "exchange.provenance": ("v", "v", "v", "", ""),
    # The row belongs to an owner, so program chairs may only view it.
    "accounts.membership": ("vacd", "va", "", "", ""),
    "papers.authorship": (ALL, ALL, ALL, "v", "v"),
    "papers.award": (ALL, ALL, ALL, "", "v"),
    "papers.awardgrant": (ALL, ALL, ALL, "", "v"),
    "papers.material": (ALL, ALL, ALL, "v", "v"),
    "papers.paper": (ALL, ALL, ALL, "v", "v"),
    "papers.topic": (ALL, ALL, ALL, "v", "v"),
    "people.committeerole": (ALL, ALL, ALL, "", "v"),
    "people.institution": (ALL, ALL, ALL, "", "v"),
    "people.person": (ALL, ALL, ALL, "v", "v"),
    "people.personidentifier": (ALL, ALL, ALL, "", "v"),
    "people.personname": (ALL, ALL, ALL, "", ""),
    "people.persondistinction": (ALL, ALL, ALL, "", ""),
    "people.institutiondistinction": (ALL, ALL, ALL, "", ""),
    "people.likelynamesake": ("v", "v", "v", "", ""),
    "people.personpair": ("v", "v", "v", "", ""),
    "people.institutionpair": ("v", "v", "v", "", ""),
    "schedule.presentation": (ALL, ALL, ALL, "vc", "v"),
    "schedule.programinvitation": (ALL, ALL, ALL, "", ""),
    "schedule.unavailability": (ALL, ALL, ALL, "", ""),
    "schedule.release": (ALL, ALL, "v", "", "v"),
    "schedule.room": (ALL, ALL, ALL, "v", "v"),
    "schedule.session": (ALL, ALL, ALL, "vc", "v"),
    # A role in one edition may not change kinds that other editions of the conference use.
    "schedule.sessionkind": (ALL, ALL, ALL, "v", "v"),
    "schedule.sessionrole": (ALL, ALL, ALL, "v", "v"),
    "schedule.speaker": (ALL, ALL, ALL, "v", "v"),
}

# Models that the roles by task may access. The paper of the edition is in the track chair's topic.
TASK_ROLE_MODELS: dict[str, dict[str, str]] = {
    "private_viewer": {label: line[4] for label, line in MODELS.items()}
    | dict.fromkeys(("people.personname", "schedule.programinvitation", "schedule.unavailability"), "v"),
    "track_chair": {
        "api.token": "vad",
        "conference.edition": "v",
        "papers.authorship": ALL,
        "papers.material": ALL,
        "papers.paper": "vc",
        "papers.topic": "v",
        "people.institution": "v",
        "people.person": "v",
        "schedule.presentation": "vc",
        "schedule.room": "v",
        "schedule.session": "v",
        "schedule.sessionkind": "v",
        "schedule.sessionrole": "v",
    },
    "awards": {
        "api.token": "vad",
        "conference.edition": "v",
        "papers.authorship": "v",
        "papers.award": ALL,
        "papers.awardgrant": ALL,
        "papers.material": "v",
        "papers.paper": "v",
        "papers.topic": "v",
        "people.institution": "v",
        "people.person": "v",
    },
    "sponsors": {"api.token": "vad", "conference.edition": "v", "conference.sponsor": ALL},
    "importer": {
        "api.token": "vad",
        "conference.edition": "v",
        "exchange.columnmapping": "vd",
        "exchange.conflict": "vc",
        "exchange.importjob": "vac",
        "exchange.importrun": "v",
        "exchange.provenance": "v",
    },
}


def role_permissions(role: str, label: str) -> str:
    """Return the permissions of a role for a model, as letters."""
    if role in TASK_ROLE_MODELS:
        return TASK_ROLE_MODELS[role].get(label, "")
    return MODELS[label][[*Role].index(Role(role))]


# Permission that each page of a model requires.
PAGES = {
    "changelist": "v",
    "add": "a",
    "change": "v",
    "delete": "d",
    "history": "v",
    "restore": "c",
    "deleted": "v",
    "bring_back": "a",
    "export": "v",
}
# These histories show former names and e-mail addresses, so they require the permission to change the row.
STRICTER_PAGES = {
    "people.person": {"history": "c"},
    "people.personname": {"history": "c"},
    "people.personidentifier": {"history": "c"},
}
# Roles that may view private fields of people may also view their histories.
PRIVATE_READERS = {"private_viewer"}
# Written by imports, and read-only in the admin. A conflict is resolved on its own page.
READ_ONLY = {"exchange.conflict", "exchange.importrun", "exchange.provenance"}
# Discarded on their own pages.
NOT_DELETABLE = {"exchange.importjob"}
# Created by imports: it can only be deleted.
NOT_ADDABLE = {"exchange.columnmapping"}
# Computed by the program.
READ_ONLY |= {"people.likelynamesake", "people.personpair", "people.institutionpair"}
# All editors may choose people whom a public row shows.
PUBLIC_CHOICES = {"people.person", "people.personidentifier"}
# A session chair may change some fields only, so neither restore a version nor undelete a row.
RESTORING_PAGES = {"restore", "bring_back"}

# URLs that belong to no model, and the roles that may open them.
STAFF = {*map(str, Role), "other", "superuser"}
EDITORS = {"owner", "chair", "editor"}
VIEWERS = EDITORS | {"viewer", "private_viewer"}
IMPORTERS = EDITORS | {"importer"}
OTHER_URLS: dict[str, set[str]] = {
    "index": STAFF,
    "app_list": STAFF - {"importer", "sponsors"},  # Of the app `papers`.
    "login": set(),  # Signed-in users are redirected.
    "logout": set(),  # By POST alone.
    "password_change": STAFF,
    "password_change_done": STAFF,
    "jsi18n": STAFF,
    "autocomplete": VIEWERS | {"session_chair", "track_chair", "awards"},
    "view_on_site": VIEWERS | {"session_chair", "track_chair", "awards"},
    "auth_user_password_change": set(),
    "account": STAFF,
    "conference_edition_as_public": VIEWERS,
    "accounts_membership_revoke": {"owner", "chair"},
    "accounts_membership_send": {"owner", "chair"},
    "accounts_membership_roles": {"owner", "chair"},
    "conference_edition_preview": VIEWERS,
    "conference_edition_publish": {"owner", "chair"},
    "exchange_importjob_progress": IMPORTERS,
    "exchange_importrun_undo": IMPORTERS,
    "schedule_session_announce": {"owner", "chair"},
    "schedule_release_working_copy": VIEWERS,
    "schedule_session_assign": VIEWERS,
    "schedule_session_boards": VIEWERS,
    "schedule_session_board_labels": VIEWERS,
    "people_person_compare": EDITORS,
    "people_person_merges": EDITORS,
    "people_person_unmerge": EDITORS,
    "people_person_split": EDITORS,
    "people_person_unsplit": EDITORS,
    "people_personpair_look": set(),  # By POST alone.
    "people_institution_compare": EDITORS,
    "people_institution_merges": EDITORS,
    "people_institution_unmerge": EDITORS,
    "people_institutionpair_look": set(),
    "schedule_programinvitation_prepare": EDITORS,
    "schedule_session_clashes": VIEWERS,
    "schedule_session_colors": VIEWERS,
    "schedule_session_planned": VIEWERS,
    "schedule_session_posters": VIEWERS,
    # Those who can't preview the edition preview their own sessions.
    "schedule_session_preview": VIEWERS | {"session_chair", "track_chair"},
    "schedule_session_talks": VIEWERS,
    "schedule_session_timetable": VIEWERS,
    "take_back": EDITORS | {"track_chair"},
    "search": STAFF,
    "conference_edition_new": {"owner"},
    "hide_steps": set(),  # By POST alone.
    "text_help": STAFF,  # By POST alone.
}

# Resources of the API, with the model whose permissions above apply. A new one needs an entry here.
RESOURCES = {
    "announcements": "conference.announcement",
    "key_dates": "conference.keydate",
    "awards": "papers.award",
    "conferences": "conference.conference",
    "editions": "conference.edition",
    "institutions": "people.institution",
    "materials": "papers.material",
    "pages": "conference.page",
    "papers": "papers.paper",
    "people": "people.person",
    "presentations": "schedule.presentation",
    "releases": "schedule.release",
    "rooms": "schedule.room",
    "sessions": "schedule.session",
    "sponsors": "conference.sponsor",
    "topics": "papers.topic",
}
# All users may read these, because the edition of the world is public, though most of its rows are not.
READABLE_BY_ALL = {"conferences", "editions", "people", "releases"}
# These belong to no edition, so all roles that enter content may add them.
ADDABLE_BY_ALL = {"people", "institutions"}
# Other URLs of the API, which show no rows.
OTHER_API_URLS = {
    *("root", "schema", "docs", "unknown"),
    # tests/api/test_unreleased_changes.py compares them with the desk.
    *("unreleased-changes", "unreleased-changes_one", "unreleased-changes_release"),
}
