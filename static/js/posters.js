// Only my stars among the posters of a session: the stars are in this browser, so the address names them.
const MAX_POSTERS = 100;
const button = document.querySelector("[data-starred]");
const agenda = window.plenaryAgenda;

function offer() {
  const keys = agenda.starred(agenda.load()).map((star) => star.key);
  const posters = keys.filter((key) => key.startsWith("p.")).map((key) => key.slice(2));
  button.value = posters.slice(0, MAX_POSTERS).join("~");
  button.hidden = posters.length === 0;
}

if (button && agenda) {
  offer();
  document.addEventListener("plenary:stars", offer);
  document.addEventListener("click", () => setTimeout(offer));
}
