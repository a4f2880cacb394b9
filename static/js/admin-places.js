// Rows with an order: moved by dragging a handle, by its arrow keys, or by two buttons. The number in each
// row is what is saved; without the script one types the numbers.
"use strict";

(() => {
  const status = document.createElement("p");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");

  const filled = (words, places) =>
    words.replace(/\{(\w+)\}/g, (whole, name) => (name in places ? places[name] : whole));
  const words = (row) => row.closest("[data-places]").dataset;
  const isRow = (row) => row && row.matches("tr.form-row:not(.empty-form), #result_list tbody > tr");
  const number = (row) => row.querySelector("td.field-position input");
  const isGoing = (row) => Boolean(row.querySelector("td.delete input:checked"));
  const rows = (body) => [...body.children].filter((row) => isRow(row) && number(row));

  // A row with the errors above it.
  function unit(row) {
    const above = row.previousElementSibling;
    return above && above.classList.contains("row-form-errors") ? [above, row] : [row];
  }

  function neighbor(row, down) {
    const all = rows(row.parentElement);
    return all[all.indexOf(row) + (down ? 1 : -1)];
  }

  // Move the other row, so that this one keeps the focus and the pointer.
  function pass(row, down) {
    const other = neighbor(row, down);
    if (!other) {
      return false;
    }
    if (down) {
      unit(row)[0].before(...unit(other));
    } else {
      row.after(...unit(other));
    }
    return true;
  }

  // In a form the rows count from 1 or the first of the page; a list, which may show only some, reuses its
  // numbers.
  function renumber(body) {
    const staying = rows(body).filter((row) => !isGoing(row));
    const isList = Boolean(body.closest("#result_list"));
    const held = staying.map((row) => Number(number(row).value)).sort((a, b) => a - b);
    const group = body.closest("[data-first-place]");
    const first = group ? Number(group.dataset.firstPlace) : 1;
    staying.forEach((row, index) => {
      number(row).value = isList ? held[index] : index + first;
    });
    body.dispatchEvent(new Event("places:moved", { bubbles: true }));
  }

  function name(row) {
    const told = row.querySelector("td.original p, th a");
    const chosen = row.querySelector("select.admin-autocomplete option:checked");
    const typed = row.querySelector("td.field-name input, td.field-title input, td.field-label input");
    const found = [told && told.firstChild.textContent, typed && typed.value, chosen && chosen.textContent];
    return found.map((text) => (text || "").trim()).find(Boolean) || words(row).row;
  }

  function tell(row, sentence) {
    const all = rows(row.parentElement);
    status.textContent = filled(sentence, { name: name(row), place: all.indexOf(row) + 1, count: all.length });
  }

  function move(row, down, far) {
    let moved = pass(row, down);
    while (moved && far && pass(row, down));
    if (moved) {
      renumber(row.parentElement);
      row.scrollIntoView({ block: "nearest" });
    }
    tell(row, moved ? words(row).moved : down ? words(row).last : words(row).first);
  }

  // Keyboard

  function onKey(event) {
    const keys = { ArrowUp: [false, false], ArrowDown: [true, false], Home: [false, true], End: [true, true] };
    if (keys[event.key] && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      move(event.target.closest("tr"), ...keys[event.key]);
    }
  }

  // Pointer

  function drag(event) {
    const handle = event.currentTarget;
    const row = handle.closest("tr");
    const before = rows(row.parentElement);
    const place = before.indexOf(row);
    if (event.button !== 0) {
      return;
    }
    event.preventDefault();
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    row.classList.add("is-moving");

    const middle = (other) => {
      const box = other.getBoundingClientRect();
      return box.top + box.height / 2;
    };
    const follow = (moved) => {
      for (let next = neighbor(row, true); next && moved.clientY > middle(next); next = neighbor(row, true)) {
        pass(row, true);
      }
      for (let next = neighbor(row, false); next && moved.clientY < middle(next); next = neighbor(row, false)) {
        pass(row, false);
      }
      const edge = moved.clientY < 60 ? -12 : moved.clientY > window.innerHeight - 60 ? 12 : 0;
      window.scrollBy(0, edge);
    };
    const back = () => {
      while (rows(row.parentElement).indexOf(row) > place && pass(row, false));
      while (rows(row.parentElement).indexOf(row) < place && pass(row, true));
    };
    const escape = (key) => {
      if (key.key === "Escape") {
        back();
        end();
      }
    };
    const end = () => {
      for (const [type, listener] of Object.entries(listeners)) {
        handle.removeEventListener(type, listener);
      }
      row.classList.remove("is-moving");
      if (rows(row.parentElement).indexOf(row) !== place) {
        renumber(row.parentElement);
        tell(row, words(row).moved);
      }
    };
    const cancelled = () => {
      back();
      end();
    };
    const listeners = { pointermove: follow, pointerup: end, pointercancel: cancelled, keydown: escape };
    for (const [type, listener] of Object.entries(listeners)) {
      handle.addEventListener(type, listener);
    }
  }

  // The handle and the buttons

  function button(kind, sign, label) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = `place-${kind}`;
    made.textContent = sign;
    made.setAttribute("aria-label", label);
    return made;
  }

  function equip(row) {
    const cell = number(row) && number(row).closest("td");
    if (!cell || cell.querySelector(".places")) {
      return;
    }
    const box = document.createElement("span");
    box.className = "places";
    const labels = words(row);
    const handle = button("handle", "⠿", filled(labels.handle, { name: name(row) }));
    handle.addEventListener("keydown", onKey);
    handle.addEventListener("pointerdown", drag);
    handle.addEventListener("focus", () => {
      handle.setAttribute("aria-label", filled(labels.handle, { name: name(row) }));
    });
    box.append(handle);
    for (const [kind, sign, label, down] of [["up", "↑", labels.up, false], ["down", "↓", labels.down, true]]) {
      const step = button(kind, sign, filled(label, { name: name(row) }));
      // One tab stop per row: the arrow keys on the handle do the same.
      step.tabIndex = -1;
      step.addEventListener("click", () => move(row, down, false));
      box.append(step);
    }
    cell.prepend(box);
  }

  // Django renumbers rows when a new one is removed; the stored ones must come first.
  function recount(prefix) {
    const group = document.getElementById(`${prefix}-group`);
    if (!group || !("places" in group.dataset)) {
      return;
    }
    const pattern = new RegExp(`\\b${prefix}-\\d+`);
    const found = [...group.querySelectorAll("tr.form-row:not(.empty-form)")];
    const stored = found.filter((row) => row.classList.contains("has_original"));
    const added = found.filter((row) => !row.classList.contains("has_original"));
    [...stored, ...added].forEach((row, index) => {
      for (const element of [row, ...row.querySelectorAll("[id], [name], [for]")]) {
        for (const attribute of ["id", "name", "for"]) {
          const value = element.getAttribute(attribute);
          if (value && pattern.test(value)) {
            element.setAttribute(attribute, value.replace(pattern, `${prefix}-${index}`));
          }
        }
      }
    });
  }

  function begin() {
    const places = document.querySelectorAll("[data-places]");
    if (!places.length) {
      return;
    }
    document.body.append(status);
    for (const row of document.querySelectorAll("[data-places] tbody > tr")) {
      if (isRow(row)) {
        equip(row);
      }
    }
    document.addEventListener("formset:added", (event) => {
      if (event.target.closest("[data-places]")) {
        equip(event.target);
      }
    });
    document.addEventListener("formset:removed", (event) => {
      setTimeout(() => recount(event.detail.formsetName));
    });
  }

  document.addEventListener("DOMContentLoaded", begin);
})();
