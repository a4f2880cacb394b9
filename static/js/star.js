// Stars of sessions and talks, stored in this browser. Without this script, or without storage, the buttons
// submit a form, and the site stores the agenda. Format of a star: schedule/agenda/stars.py.
"use strict";

window.plenaryAgenda = (() => {
  const form = document.getElementById("stars");
  if (!form) {
    return null;
  }
  const PLACE = `plenary.agenda.${form.dataset.edition}`;
  const VERSION = 1;
  const MAX_STARS = 500;
  const STALE = 5 * 60 * 1000;
  const WRITTEN = /^(-?)([sp]\.[A-Za-z0-9][A-Za-z0-9._-]{0,63})@([0-9]{0,11}\.[0-9]{0,18})(?:@([0-9]{1,14}))?$/;

  function say(words) {
    const place = document.querySelector("main");
    const line = document.createElement("p");
    line.className = "notice wrap";
    line.setAttribute("role", "status");
    place.before(line);
    line.textContent = words;
  }

  // key -> {seen, at, removed}; null for an invalid star.
  function parse(written) {
    const parts = typeof written === "string" ? WRITTEN.exec(written) : null;
    return parts && { key: parts[2], seen: parts[3], at: Number(parts[4] || 0), removed: parts[1] === "-" };
  }

  function write(star) {
    return `${star.removed ? "-" : ""}${star.key}@${star.seen}@${star.at}`;
  }

  function empty() {
    return { kept: false, synced: 0, stars: new Map() };
  }

  // The stored stars. Unreadable ones are moved aside, and reported.
  function load() {
    const text = localStorage.getItem(PLACE);
    if (text === null) {
      return empty();
    }
    let stored = null;
    try {
      stored = JSON.parse(text);
    } catch {
      // Reported below.
    }
    const isReadable = stored && stored.version === VERSION && Array.isArray(stored.stars);
    const state = empty();
    const stars = isReadable ? stored.stars.map(parse) : [null];
    for (const star of stars.filter(Boolean)) {
      state.stars.set(star.key, star);
    }
    if (isReadable) {
      state.kept = stored.kept === true;
      state.synced = Number(stored.synced) || 0;
    }
    if (stars.includes(null)) {
      save(state);
      say(form.dataset.unreadable);
    }
    return state;
  }

  // Only the latest removals: other devices need them once.
  function written(state) {
    const removed = [...state.stars.values()].filter((star) => star.removed).sort((one, other) => other.at - one.at);
    return [...starred(state), ...removed.slice(0, MAX_STARS)].map(write);
  }

  function save(state) {
    const stars = written(state);
    try {
      localStorage.setItem(PLACE, JSON.stringify({ version: VERSION, kept: state.kept, synced: state.synced, stars }));
    } catch {
      say(form.dataset.full);
    }
  }

  function starred(state) {
    return [...state.stars.values()].filter((star) => !star.removed);
  }

  // The later star counts; at the same moment the removal.
  function take(state, star) {
    const known = state.stars.get(star.key);
    if (!known || star.at > known.at || (star.at === known.at && star.removed && !known.removed)) {
      state.stars.set(star.key, star);
    }
  }

  function starsOf(button) {
    return button.value.split(" ").map(parse).filter(Boolean);
  }

  // Buttons

  function paint(state = load()) {
    const isOn = (star) => state.stars.has(star.key) && !state.stars.get(star.key).removed;
    for (const button of document.querySelectorAll("button.star")) {
      const stars = starsOf(button);
      button.setAttribute("aria-pressed", String(stars.length > 0 && stars.every(isOn)));
      if (button.dataset.star) {
        button.setAttribute("aria-label", button.dataset.star);
      }
    }
    const count = starred(state).length;
    for (const place of form.querySelectorAll("[data-count]")) {
      place.textContent = count ? ` · ${count}` : "";
    }
    document.dispatchEvent(new Event("plenary:painted"));
  }

  function press(button) {
    const state = load();
    const on = button.dataset.noted !== undefined || button.getAttribute("aria-pressed") !== "true";
    const stars = starsOf(button);
    const more = stars.filter((star) => !state.stars.has(star.key) || state.stars.get(star.key).removed);
    if (on && starred(state).length + more.length > MAX_STARS) {
      say(form.dataset.most);
      return;
    }
    for (const star of stars) {
      const known = state.stars.get(star.key);
      const at = Math.max(Date.now(), known ? known.at + 1 : 0);
      state.stars.set(star.key, { ...star, at, removed: !on });
    }
    save(state);
    paint(state);
    sync();
  }

  // Stored on the site

  let flight = null;
  let isWaiting = false;

  // One request at a time; stars set meanwhile go with the next. Resolves to whether the site's stars may have changed.
  function sync() {
    isWaiting = flight !== null;
    flight ??= fly().finally(() => {
      flight = null;
    });
    return flight;
  }

  async function fly() {
    let isChanged = false;
    do {
      isWaiting = false;
      isChanged = (await exchange()) || isChanged;
    } while (isWaiting);
    return isChanged;
  }

  async function exchange() {
    const state = load();
    if (!state.kept) {
      return true;
    }
    const body = new URLSearchParams({ stars: written(state).join(" ") });
    const headers = { Accept: "application/json" };
    // Browsers finish small requests after the page is left.
    const keepalive = String(body).length < 60000;
    try {
      const reply = await fetch(form.dataset.sync, { method: "POST", body, headers, keepalive });
      const found = await reply.json();
      const now = load();
      if (reply.ok) {
        found.stars.map(parse).filter(Boolean).forEach((star) => take(now, star));
        now.synced = Date.now();
      } else if (reply.status === 404) {
        now.kept = false;
      } else {
        say(found.error);
      }
      save(now);
      paint(now);
      return !reply.ok || found.changed;
    } catch {
      // No network: the next star, or the next page, tries again.
      return true;
    }
  }

  function keep(isKept) {
    const state = load();
    if (state.kept !== isKept) {
      state.kept = isKept;
      save(state);
    }
  }

  function forget() {
    localStorage.removeItem(PLACE);
    paint();
  }

  try {
    load();
  } catch {
    return null;
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[form=stars]");
    if (button && button.dataset.keep === undefined) {
      event.preventDefault();
      press(button);
    }
  });
  window.addEventListener("storage", (event) => {
    if (event.key === PLACE || event.key === null) {
      paint();
      document.dispatchEvent(new Event("plenary:stars"));
    }
  });
  // A page from the back/forward cache shows what was starred meanwhile.
  window.addEventListener("pageshow", () => {
    const state = load();
    paint(state);
    if (state.kept && !flight && Date.now() - state.synced > STALE) {
      sync();
    }
  });
  paint();
  return { load, write, starred, paint, sync, keep, forget };
})();
