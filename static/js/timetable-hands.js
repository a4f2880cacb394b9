// The board of the timetable editor by mouse, touch and keyboard; a session's form in a dialog.
"use strict";

(() => {
  const timetable = window.plenaryTimetable;
  if (!timetable) {
    return;
  }
  const { form, board, rows, words, place, move, undo, say, block } = timetable;
  const STEP = 5;
  const FAR = 4;
  // A drag this near to the edge of what is seen scrolls: a finger that drags cannot scroll as a wheel does.
  const EDGE = 44;
  const SPEED = 10;
  let drag;

  const snapped = (at) => Math.round(at / STEP) * STEP;
  const rowOf = (element) => rows.get(element.closest(".tt-block")?.dataset.key);

  // Selected sessions move together.
  function together(row, to) {
    const from = place(row);
    const chosen = row.pick?.checked ? [...rows.values()].filter((one) => one.pick?.checked && one !== row) : [];
    const others = chosen.map((one) => {
      const at = place(one);
      const by = to.start - from.start;
      return [one.key, { ...at, start: at.start + by, end: at.end + by }];
    });
    return [[row.key, to], ...others];
  }

  // Pointer

  function begin(event) {
    const row = rowOf(event.target);
    const isGrip = event.target.closest(".tt-grip, .tt-edge");
    if (drag || !row || row.fixed || event.button !== 0 || (event.pointerType !== "mouse" && !isGrip)) {
      return;
    }
    const from = place(row);
    const isEdge = Boolean(event.target.closest(".tt-edge"));
    const held = timetable.at(event.clientX, event.clientY).minutes - (isEdge ? from.end : from.start);
    drag = { row, from, held, isEdge, to: undefined, x: event.clientX, y: event.clientY, id: event.pointerId };
  }

  function during(event) {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    if (!drag.to && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < FAR) {
      return;
    }
    if (!drag.to) {
      block(drag.row.key).setPointerCapture(drag.id);
      block(drag.row.key).classList.add("is-held");
      if (event.pointerType !== "mouse") {
        scrollAtEdges({ drag, x: drag.x, y: drag.y });
      }
    }
    Object.assign(drag, { x: event.clientX, y: event.clientY });
    follow();
    event.preventDefault();
  }

  // The session goes where the pointer is.
  function follow() {
    const { row, from } = drag;
    const under = timetable.at(drag.x, drag.y);
    if (drag.isEdge) {
      drag.to = { ...from, end: Math.min(1440, Math.max(from.start + STEP, snapped(under.minutes - drag.held))) };
    } else {
      const length = from.end - from.start;
      const start = Math.max(0, Math.min(1440 - Math.min(length, 1440), snapped(under.minutes - drag.held)));
      drag.to = { ...from, start, end: start + length, room: under.room ?? (drag.to ?? from).room };
    }
    timetable.preview(row.key, drag.to);
  }

  // `begun` is a drag and where it began: it scrolls only in the direction in which it went.
  function scrollAtEdges(begun) {
    if (!drag || drag !== begun.drag) {
      return;
    }
    const scroller = board.querySelector(".tt-scroll");
    const box = scroller.getBoundingClientRect();
    const step = (name, first, last) => {
      const at = drag[name];
      const isLow = at < Math.max(0, first) + EDGE && at < begun[name];
      return isLow ? -SPEED : at > last - EDGE && at > begun[name] ? SPEED : 0;
    };
    const before = [scroller.scrollLeft, scroller.scrollTop, window.scrollY].join();
    const down = step("y", box.top, Math.min(window.innerHeight, box.bottom));
    const inner = scroller.scrollTop;
    scroller.scrollBy(step("x", box.left, Math.min(window.innerWidth, box.right)), down);
    const isOut = down < 0 ? box.top < 0 : box.bottom > window.innerHeight;
    if (down && isOut && scroller.scrollTop === inner) {
      window.scrollBy(0, down);
    }
    if ([scroller.scrollLeft, scroller.scrollTop, window.scrollY].join() !== before) {
      follow();
    }
    requestAnimationFrame(() => scrollAtEdges(begun));
  }

  function end(event) {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    const { row, to } = drag;
    drop();
    if (to && event.type === "pointerup") {
      move(together(row, to));
      // The end of a drag is not a click.
      block(row.key).dataset.dragged = "true";
      setTimeout(() => delete block(row.key).dataset.dragged);
    }
  }

  function drop() {
    block(drag.row.key).classList.remove("is-held");
    drag = undefined;
    timetable.draw();
  }

  // Keyboard

  const KEYS = {
    ArrowUp: (at, shift) => (shift ? { ...at, end: at.end - STEP } : { ...at, start: at.start - STEP, end: at.end - STEP }),
    ArrowDown: (at, shift) => (shift ? { ...at, end: at.end + STEP } : { ...at, start: at.start + STEP, end: at.end + STEP }),
    ArrowLeft: (at) => ({ ...at, room: timetable.beside(at.room, -1) }),
    ArrowRight: (at) => ({ ...at, room: timetable.beside(at.room, 1) }),
    PageUp: (at, shift, row) => ({ ...at, day: row.inputs.day.options[row.inputs.day.selectedIndex - 1]?.value }),
    PageDown: (at, shift, row) => ({ ...at, day: row.inputs.day.options[row.inputs.day.selectedIndex + 1]?.value }),
  };

  function press(event) {
    const row = rowOf(event.target);
    if (!row || row.fixed || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    if (event.key === " ") {
      event.preventDefault();
      choose(row);
    } else if (event.key === "Escape" && drag) {
      drop();
    } else if (event.key in KEYS) {
      event.preventDefault();
      const to = KEYS[event.key](place(row), event.shiftKey, row);
      if (to.room === undefined || to.day === undefined || !move(together(row, to))) {
        say(words.stays, row);
      } else if (to.day === words.day) {
        block(row.key).scrollIntoView({ block: "nearest", inline: "nearest" });
      } else {
        board.querySelector(".tt-block:not([hidden])")?.focus();
      }
    }
  }

  function choose(row) {
    row.pick.checked = !row.pick.checked;
    say(row.pick.checked ? words.chosen : words.left, row);
    timetable.mark();
  }

  // The form of one session

  const dialog = document.createElement("dialog");
  const close = document.createElement("button");
  dialog.className = "tt-dialog";
  close.type = "button";
  close.className = "button tt-quiet";
  close.textContent = words.close;
  close.addEventListener("click", () => dialog.close());
  form.append(dialog);

  function open(row) {
    const home = row.fields.nextElementSibling;
    dialog.replaceChildren(row.fields, home.cloneNode(true), close);
    dialog.setAttribute("aria-label", row.fields.querySelector("legend").textContent);
    dialog.showModal();
    row.inputs.day.focus();
    dialog.addEventListener(
      "close",
      () => {
        home.before(row.fields);
        block(row.key).focus();
      },
      { once: true },
    );
  }
  // Enter in a field must not submit the page.
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input, select")) {
      event.preventDefault();
      event.target.dispatchEvent(new Event("change", { bubbles: true }));
      dialog.close();
    }
  });

  board.addEventListener("pointerdown", begin);
  board.addEventListener("pointermove", during);
  board.addEventListener("pointerup", end);
  board.addEventListener("pointercancel", end);
  board.addEventListener("keydown", press);
  board.addEventListener("click", (event) => {
    const row = rowOf(event.target);
    if (!row || row.fixed || event.target.closest(".tt-block").dataset.dragged) {
      return;
    }
    if (event.ctrlKey || event.metaKey || event.shiftKey) {
      choose(row);
    } else {
      open(row);
    }
  });
  form.addEventListener("change", (event) => event.target.name === "pick" && timetable.mark());
  document.addEventListener("keydown", (event) => {
    const isText = event.target.matches("input, textarea, select");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !event.shiftKey && !isText) {
      event.preventDefault();
      undo();
    }
  });
  document.getElementById("tt-shift")?.addEventListener("click", (event) => {
    const by = Number(document.getElementById("id_minutes").value);
    const chosen = [...rows.values()].filter((row) => row.pick?.checked);
    const wanted = chosen.map((row) => {
      const at = place(row);
      return [row.key, { ...at, start: at.start + by, end: at.end + by }];
    });
    // The site draws sessions that leave the day.
    if (by && chosen.length > 0 && move(wanted)) {
      event.preventDefault();
    }
  });
})();
