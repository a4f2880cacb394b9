// The grid by arrow keys: one stop of the Tab key, then up, down, left, right, Home and End among sessions.
const table = document.querySelector(".grid table");
const links = table ? [...table.querySelectorAll("td .title a")] : [];

// The real row and column of a cell, whatever it spans.
function places() {
  return links.map((link) => {
    const box = link.closest("td").getBoundingClientRect();
    return { link, left: box.left, right: box.right, top: box.top, bottom: box.bottom };
  });
}

// The distance of a session in a direction; nothing if it lies elsewhere.
function distance(key, from, to) {
  const across = Math.max(0, Math.max(from.left, to.left) - Math.min(from.right, to.right) + 1);
  const along = Math.max(0, Math.max(from.top, to.top) - Math.min(from.bottom, to.bottom) + 1);
  const ahead = {
    ArrowRight: to.left - from.right,
    ArrowLeft: from.left - to.right,
    ArrowDown: to.top - from.bottom,
    ArrowUp: from.top - to.bottom,
  }[key];
  const aside = key === "ArrowRight" || key === "ArrowLeft" ? along : across;
  return ahead < -1 ? undefined : ahead + 8 * aside;
}

function next(key, link) {
  if (key === "Home" || key === "End") {
    return links.at(key === "Home" ? 0 : -1);
  }
  const all = places();
  const from = all.find((place) => place.link === link);
  let best;
  for (const to of all) {
    const far = to === from ? undefined : distance(key, from, to);
    if (far !== undefined && (best === undefined || far < best.far)) {
      best = { far, link: to.link };
    }
  }
  return best?.link;
}

function stand(link) {
  for (const other of links) {
    other.tabIndex = other === link ? 0 : -1;
  }
}

if (links.length > 0) {
  stand(table.querySelector("td:has(.live) .title a") ?? links[0]);
  table.addEventListener("focusin", (event) => {
    if (links.includes(event.target)) {
      stand(event.target);
    }
  });
  table.addEventListener("keydown", (event) => {
    if (!links.includes(event.target) || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const known = /^(Arrow(Up|Down|Left|Right)|Home|End)$/.test(event.key);
    const goal = known ? next(event.key, event.target) : undefined;
    if (known) {
      event.preventDefault();
    }
    if (goal) {
      goal.focus({ preventScroll: true });
      goal.closest("td").scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  });
}
