// Videos that play in the page: only after a click is anything loaded from their host. Without this module
// the link leads there.

function play(link) {
  const frame = document.createElement("iframe");
  frame.src = link.dataset.player;
  frame.title = link.dataset.title;
  frame.allow = "fullscreen; picture-in-picture";
  frame.allowFullscreen = true;
  // Players refuse to play where they do not learn the site.
  frame.referrerPolicy = "strict-origin-when-cross-origin";
  frame.className = "player";
  const place = document.getElementById("player");
  place.hidden = false;
  place.replaceChildren(frame);
  frame.focus();
}

for (const link of document.querySelectorAll("a[data-player]")) {
  link.addEventListener("click", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      play(link);
    }
  });
}
