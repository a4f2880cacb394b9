// The board of the timetable editor: a column for each room, a block for each session, drawn from the form's
// inputs.
"use strict";

(() => {
  const timetable = window.plenaryTimetable;
  if (!timetable) {
    return;
  }
  const { board, words, rows, place, label, fill, clock } = timetable;
  const SCALE = 1.6;
  const HEAD = 40;
  const body = document.createElement("div");
  const head = document.createElement("div");
  const axis = document.createElement("div");
  const blocks = new Map();
  let shown = { columns: [], first: 0, last: 0 };

  const px = (element, values) => {
    for (const [name, value] of Object.entries(values)) {
      element.style[name] = `${value}px`;
    }
  };

  function part(name, text = "") {
    const element = document.createElement("span");
    element.className = name;
    element.textContent = text;
    return element;
  }

  function make(row) {
    const block = document.createElement("button");
    block.type = "button";
    block.className = `tt-block ${[...row.item.classList].find((name) => name.startsWith("kind-")) || ""}`;
    block.dataset.key = row.key;
    block.disabled = row.fixed;
    const title = part("tt-name");
    title.append(...[...row.title.childNodes].map((node) => node.cloneNode(true)));
    const [grip, edge] = [part("tt-grip"), part("tt-edge")];
    grip.setAttribute("aria-hidden", "true");
    edge.setAttribute("aria-hidden", "true");
    block.append(grip, part("tt-time"), title, part("tt-mark"), edge);
    blocks.set(row.key, block);
    body.append(block);
    return block;
  }

  function put(block, at, column, lane, count) {
    const width = (column.width - 6) / count;
    px(block, {
      left: column.left + 3 + lane * width,
      top: (at.start - shown.first) * SCALE,
      width: width - 2,
      height: Math.max(shown.minMinutes, Math.min(at.end, 1440) - at.start) * SCALE - 2,
    });
  }

  // The text of a block, visible and for screen readers.
  function name(row, block) {
    const told = label(row);
    const count = Number(row.item.dataset.clashes);
    const heard = [fill(words.now, told)];
    block.querySelector(".tt-time").textContent = `${told.start}–${told.end}`;
    block.querySelector(".tt-mark").textContent = count ? fill(words.clashes, { count }) : "";
    if (count) {
      heard.push(fill(words.clashes, { count }));
    }
    if (row.pick?.checked) {
      heard.push(fill(words.chosen, told));
    }
    block.setAttribute("aria-label", heard.join(". "));
    block.classList.toggle("has-clash", count > 0);
    block.classList.toggle("is-chosen", Boolean(row.pick?.checked));
    block.classList.toggle("is-moved", row.item.classList.contains("is-moved"));
  }

  timetable.paint = (here, layout) => {
    shown = layout;
    const height = (layout.last - layout.first) * SCALE;
    px(body, { width: layout.width, height });
    px(head, { width: layout.width, height: HEAD });
    head.replaceChildren(
      ...layout.columns.map((column) => {
        const cell = part("tt-room", column.name);
        px(cell, { left: column.left, width: column.width });
        return cell;
      }),
    );
    axis.replaceChildren();
    for (let at = layout.first; at < layout.last; at += 60) {
      const line = part("tt-hour");
      line.append(part("tt-clock", clock(at)));
      px(line, { top: (at - layout.first) * SCALE, width: layout.width });
      axis.append(line);
    }
    const stays = new Set();
    for (const [row, at] of here) {
      const column = layout.columns.find((one) => one.room === at.room) || layout.columns.at(-1);
      const [lane, count] = column.lanes.get(row.key) || [0, 1];
      put(blocks.get(row.key) || make(row), at, column, lane, count);
      blocks.get(row.key).hidden = false;
      stays.add(row.key);
    }
    for (const [key, block] of blocks) {
      if (!stays.has(key)) {
        block.hidden = true;
      }
    }
    timetable.mark();
  };

  timetable.mark = () => {
    for (const [key, block] of blocks) {
      if (!block.hidden) {
        name(rows.get(key), block);
      }
    }
  };

  // A position on the board: the room, and minutes since the day began.
  timetable.at = (x, y) => {
    const box = body.getBoundingClientRect();
    const inside = x - box.left;
    const column = shown.columns.find((one) => inside >= one.left && inside < one.left + one.width);
    return { room: column?.room, minutes: shown.first + (y - box.top) / SCALE };
  };
  timetable.beside = (room, step) => {
    const place = shown.columns.findIndex((one) => one.room === room) + step;
    return shown.columns[place]?.room;
  };
  timetable.block = (key) => blocks.get(key);
  timetable.preview = (key, at) => {
    const column = shown.columns.find((one) => one.room === at.room);
    const block = blocks.get(key);
    put(block, at, column, 0, 1);
    block.querySelector(".tt-time").textContent = `${clock(at.start)}–${clock(at.end)}`;
  };

  const scroll = document.createElement("div");
  scroll.className = "tt-scroll";
  head.className = "tt-head";
  body.className = "tt-body";
  axis.className = "tt-axis";
  axis.setAttribute("aria-hidden", "true");
  head.setAttribute("aria-hidden", "true");
  body.append(axis);
  scroll.append(head, body);
  board.append(scroll);
  board.setAttribute("role", "application");
  board.setAttribute("aria-label", words.axis);
  board.hidden = false;
  document.documentElement.classList.add("has-board");
  timetable.draw();
})();
