// Color fields of the admin (editorial/colors.py): a picker beside the text, and contrast as it changes.
"use strict";

(() => {
  const MIN_CONTRAST = 4.5;

  const luminance = (color) => {
    const [red, green, blue] = [1, 3, 5].map((place) => {
      const part = parseInt(color.slice(place, place + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };

  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return Math.round(((high + 0.05) / (low + 0.05)) * 10) / 10;
  };

  const prepare = (field) => {
    const text = field.querySelector("input:not([type=color])");
    const picker = field.querySelector("input[type=color]");
    const note = field.querySelector(".color-note");
    const pages = field.dataset.pages.split(" ");
    const tell = () => {
      const color = text.value.trim().toLowerCase();
      if (!/^#[0-9a-f]{6}$/.test(color)) {
        note.textContent = "";
        return;
      }
      picker.value = color;
      const [light, dark] = pages.map((page) => contrast(color, page));
      const ratios = field.dataset.ratios
        .replace("{light}", light.toFixed(1))
        .replace("{dark}", dark.toFixed(1));
      note.textContent =
        Math.min(light, dark) < MIN_CONTRAST ? `${ratios} ${field.dataset.warning}` : ratios;
    };
    picker.hidden = text.disabled || text.readOnly;
    picker.addEventListener("input", () => {
      text.value = picker.value;
      tell();
    });
    text.addEventListener("input", tell);
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-color]").forEach(prepare);
  });
})();
