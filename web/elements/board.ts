/** Lets the cards of a board be dragged to another column: their own form is sent. */
export function startBoard(): void {
  document.addEventListener("dragstart", (event) => {
    const card = closest(event, "[data-card]");
    if (card === null) return;
    event.dataTransfer?.setData("text/plain", card.dataset["card"] ?? "");
    document.querySelector("[data-board]")?.classList.add("dragging");
  });
  document.addEventListener("dragover", (event) => {
    const column = closest(event, "[data-board].dragging [data-status]");
    mark(column);
    if (column !== null) event.preventDefault();
  });
  document.addEventListener("dragend", () => {
    mark(null);
    document.querySelector("[data-board]")?.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    const column = closest(event, "[data-board].dragging [data-status]");
    const id = event.dataTransfer?.getData("text/plain") ?? "";
    const card = document.querySelector(`[data-card="${CSS.escape(id)}"]`);
    const select = card?.querySelector<HTMLSelectElement>("select[name=status]");
    const status = column?.dataset["status"];
    if (
      select === null || select === undefined || status === undefined || select.value === status
    ) return;
    event.preventDefault();
    select.value = status;
    select.form?.requestSubmit();
  });
}

function closest(event: Event, selector: string): HTMLElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null;
}

function mark(column: HTMLElement | null): void {
  for (const other of document.querySelectorAll("[data-status].drop")) {
    if (other !== column) other.classList.remove("drop");
  }
  column?.classList.add("drop");
}
