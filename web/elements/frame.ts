/** The frame of the page: the menu on a phone, the theme, and the keys. */
export function startFrame(): void {
  startMenu();
  startTheme();
  showCurrentTab();
  showRefusal();
}

/** Where a form was refused, the person goes on in the field that is wrong, or at the reason. */
function showRefusal(): void {
  const reason = document.querySelector<HTMLElement>("main > .notice.bad[role=alert]");
  if (reason === null) return;
  (document.querySelector<HTMLElement>("main [aria-invalid=true]") ?? reason).focus();
}

/** On a phone, the tabs of a project are wider than the page. */
function showCurrentTab(): void {
  const tab = document.querySelector<HTMLElement>(".project-bar [aria-current=page]");
  const tabs = tab?.closest("ul");
  if (tab === null || tabs === null || tabs === undefined) return;
  const { left, width } = tab.getBoundingClientRect();
  const bounds = tabs.getBoundingClientRect();
  if (left + width > bounds.right) tabs.scrollLeft += left - bounds.left - width;
}

function startMenu(): void {
  const toggle = document.querySelector<HTMLButtonElement>("[data-toggle=sidebar]");
  document.querySelector(".sidebar-parts")?.classList.add("scripted");
  toggle?.addEventListener("click", () => {
    const isOpen = toggle.getAttribute("aria-expanded") === "true";
    toggle.setAttribute("aria-expanded", String(!isOpen));
  });
}

/** The themes in the order of the button: the first that follows `auto` is not the one in sight. */
function themes(): readonly string[] {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
}

function startTheme(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-switch]");
  if (button === null) return;
  const name = button.querySelector("[data-theme-name]");
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const order = themes();
    const next = order[(order.indexOf(root.dataset["theme"] ?? "auto") + 1) % order.length] ??
      "auto";
    root.dataset["theme"] = next;
    document.cookie = `muster_theme=${next}; path=/; max-age=31536000; samesite=lax`;
    if (name !== null) name.textContent = next;
  });
}
