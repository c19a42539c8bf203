/** The frame of the page: the menu on a phone, the theme, and the keys. */
export function startFrame(): void {
  startMenu();
  startTheme();
  showCurrentTab();
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

const THEMES = ["auto", "light", "dark"] as const;

function startTheme(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-switch]");
  if (button === null) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const now = THEMES.findIndex((theme) => theme === root.dataset["theme"]);
    const next = THEMES[(now + 1) % THEMES.length] ?? "auto";
    root.dataset["theme"] = next;
    document.cookie = `muster_theme=${next}; path=/; max-age=31536000; samesite=lax`;
    button.setAttribute("aria-label", `Theme: ${next}`);
  });
}
