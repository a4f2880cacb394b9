// The screen in the lobby: fetches its own page once a minute and shows what changed. Without a network it
// waits.
const EVERY = 60_000;

async function refresh() {
  if (document.hidden) {
    return;
  }
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) {
      return;
    }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    const shown = document.querySelector("main");
    // A focused link must not disappear: wait until the focus has moved on.
    if (fresh && !(shown.contains(document.activeElement) && document.activeElement !== shown)) {
      shown.replaceChildren(...fresh.childNodes);
      document.dispatchEvent(new CustomEvent("plenary:shown"));
    }
  } catch {
    // The next minute tries again.
  }
}

setInterval(refresh, EVERY);
document.addEventListener("visibilitychange", refresh);
