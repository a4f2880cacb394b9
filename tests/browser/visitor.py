"""Signing in to a browser page, and a visitor that posts forms over http, or over https through nginx."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Download, Page, Response, expect

from conference.models import Edition
from people.models import Invitation
from tests.browser.axe import DESKTOP
from tests.deploy.test_nginx import NGINX, write_configuration
from tests.processes import free_port, wait_for_port

# Chromium maps this host to the port of nginx, so that URLs have no port, as in production.
SECURE_HOST = "program.test"
SUBMIT = "#content form[method=post] [type=submit]"

# A function that opens a page with its own browser profile, given options of `Browser.new_context`.
type OpenPage = Callable[..., Page]


def sign_in(page: Page, site_url: str, user: User) -> None:
    """Set the session cookie of a user in the browser profile of a page."""
    client = Client()
    client.force_login(user)
    session_key = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session_key, "url": site_url}])


def create_invitation(edition: Edition) -> str:
    """Invite Ada; return the path of the link."""
    invitation = Invitation(edition=edition, role="editor", name="Ada", email="ada@example.org")
    token = invitation.renew()
    invitation.save()
    return f"/invitation/{token}/"


class Visitor:
    """A browser profile at one URL of the site, and the responses to its posts."""

    def __init__(self, browser: Browser, site_url: str) -> None:
        self.browser, self.site_url = browser, site_url
        self.post_responses: list[tuple[str, int]] = []
        self.page = self.open_page()

    def open_page(self, *, has_script: bool = True) -> Page:
        """Open a page with a new profile, with or without JavaScript, and use it from now on."""
        context = self.browser.new_context(
            base_url=self.site_url, viewport=DESKTOP, ignore_https_errors=True, java_script_enabled=has_script
        )
        context.on("response", self.record_post)
        self.page = context.new_page()
        return self.page

    def record_post(self, response: Response) -> None:
        if response.request.method == "POST":
            self.post_responses.append((response.url.removeprefix(self.site_url), response.status))

    def sign_in(self) -> None:
        sign_in(self.page, self.site_url, User.objects.get(username="admin"))

    def go(self, path: str) -> None:
        self.page.goto(path)

    def sign_in_and_go(self, path: str) -> None:
        """Sign in and open a page."""
        self.sign_in()
        self.go(path)

    def press(self, name: str) -> None:
        """Press the first button with this name."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def submit(self, button: str = SUBMIT) -> None:
        """Press the first button that matches a selector, by default that of the form in the content."""
        self.page.locator(button).first.click()

    def download(self, name: str) -> Download:
        """Press a button that downloads a file; return the download."""
        with self.page.expect_download() as download:
            self.press(name)
        return download.value

    def save(self, button: str = SUBMIT) -> None:
        """Submit the form, and wait for the admin's success message."""
        self.submit(button)
        self.wait_for_success()

    def wait_for_success(self) -> None:
        """Wait for the admin's success message."""
        expect(self.page.locator(".messagelist .success").first).to_be_visible()

    def close(self) -> None:
        for context in self.browser.contexts:
            context.close()


@contextmanager
def nginx(folder: Path, application: str, port: int) -> Iterator[None]:
    """Run nginx with the shipped configuration, in front of an application, during the block."""
    application_port = int(application.rpartition(":")[2])
    configuration = write_configuration(folder, [application_port] * 2, (free_port(), port))
    process = subprocess.Popen([NGINX, "-c", str(configuration)], stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, process, folder / "error.log")
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)
