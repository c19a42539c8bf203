import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import {
  Activity,
  Bot,
  CircleUser,
  FolderGit2,
  House,
  LogIn,
  LogOut,
  Menu,
  MessageSquare,
  Moon,
  ScrollText,
  Search,
  Settings,
  Users,
  Workflow,
} from "lucide-static";
import type { AppEnv } from "../../routes/environment.ts";
import type { View } from "../page.ts";
import type { Assets } from "../assets.ts";
import type { Visit } from "../visit.ts";
import { OwnChannels } from "./chat/own_channels.tsx";
import { ButtonForm } from "./form.tsx";
import { HaltButton, HaltNotice } from "./halt_button.tsx";
import { Icon } from "./icon.tsx";
import { ProjectBar } from "./project_bar.tsx";

/** The cookie of the chosen theme, which is set by the page's own script too. */
const THEME_COOKIE = "muster_theme";

/** `auto` follows the system. */
type Theme = "auto" | "light" | "dark";

/** The theme that the person chose. */
export function themeOf(context: Context<AppEnv>): Theme {
  const chosen = getCookie(context, THEME_COOKIE);
  return chosen === "light" || chosen === "dark" ? chosen : "auto";
}

/** The title of a view, with the name of its project: tabs of two projects look different. */
function titleOf({ title, project }: View): string {
  return project === undefined || title.endsWith(project.name)
    ? title
    : `${title} · ${project.name}`;
}

/** A whole page: head, navigation, notices and the body of the view. */
export function Document({ visit, view, notice, theme, assets }: {
  readonly visit: Visit;
  readonly view: View;
  /** What the last form did, which is shown once. */
  readonly notice: string | null;
  readonly theme: Theme;
  readonly assets: Assets;
}) {
  const { body, project, live, head, fills = false } = view;
  const hasPlaces = visit.session !== null || project !== undefined || view.hasPlaces === true;
  return (
    <html lang="en" data-theme={theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{titleOf(view)} · muster</title>
        <link rel="stylesheet" href={assets.style} />
        <link rel="icon" href={ICON} />
        <script type="module" src={assets.script}></script>
        {head}
      </head>
      <body
        data-live={live}
        data-live-after={live === undefined ? undefined : visit.newestEvent}
        class={fills ? "fills" : undefined}
      >
        <a class="skip" href="#main">Skip to the page</a>
        <div class={hasPlaces ? "frame" : "frame bare"}>
          {hasPlaces && <Sidebar visit={visit} theme={theme} />}
          <main id="main" tabindex={-1}>
            {project !== undefined && <ProjectBar visit={visit} place={project} />}
            <HaltNotice visit={visit} />
            {notice !== null && (
              <div class="notice good" role="status">
                <p>{notice}</p>
              </div>
            )}
            {visit.refusal !== null && (
              <div class="notice bad" role="alert" tabindex={-1}>
                <p>{visit.refusal}.</p>
              </div>
            )}
            {body}
          </main>
        </div>
      </body>
    </html>
  );
}

const ICON = "data:image/svg+xml," + encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" ' +
    'fill="#0b61c4"/><path d="M3 12V4l5 5 5-5v8" fill="none" stroke="#fff" stroke-width="2"/></svg>',
);

/** The places of the navigation; the second key after `g` leads there. */
const PLACES = [
  { to: "/", words: "Home", key: "h", icon: House, isAdmins: false },
  { to: "/channels", words: "Channels", key: "c", icon: MessageSquare, isAdmins: false },
  { to: "/projects", words: "Projects", key: "p", icon: FolderGit2, isAdmins: false },
  { to: "/search", words: "Search", key: "f", icon: Search, isAdmins: false },
  { to: "/agents", words: "Agents", key: "a", icon: Bot, isAdmins: false },
  { to: "/people", words: "People", key: "u", icon: Users, isAdmins: true },
  { to: "/events", words: "Events", key: "e", icon: ScrollText, isAdmins: true },
  { to: "/metrics", words: "Metrics", key: "m", icon: Activity, isAdmins: true },
  { to: "/settings/policies", words: "Bots", key: "b", icon: Workflow, isAdmins: true },
  { to: "/settings", words: "Settings", key: "s", icon: Settings, isAdmins: true },
] as const;

function Sidebar({ visit, theme }: { readonly visit: Visit; readonly theme: Theme }) {
  const { pathname } = visit.url;
  const isBelow = (to: string) =>
    to === "/" ? pathname === "/" : `${pathname}/`.startsWith(`${to}/`);
  // The longest address that fits: a part of the settings has a place of its own.
  const here =
    PLACES.map(({ to }) => to).filter(isBelow).toSorted((one, other) =>
      other.length - one.length
    )[0];
  const isHere = (to: string) => to === here;
  return (
    <nav class="sidebar" aria-label="Places">
      <button class="sidebar-toggle" type="button" aria-expanded="false" data-toggle="sidebar">
        <Icon svg={Menu} /> Menu
      </button>
      <a class="brand" href="/">muster</a>
      <div class="sidebar-parts">
        <ul>
          {PLACES.filter(({ isAdmins }) => !isAdmins || visit.isAdmin)
            .map(({ to, words, key, icon }) => (
              <li>
                <a href={to} data-key={key} aria-current={isHere(to) ? "page" : undefined}>
                  <Icon svg={icon} /> {words}
                </a>
              </li>
            ))}
        </ul>
        {visit.session !== null && <OwnChannels visit={visit} />}
        {visit.isAdmin && <HaltButton visit={visit} />}
        <ul>
          {visit.session !== null && (
            <li>
              <a href="/account" aria-current={isHere("/account") ? "page" : undefined}>
                <Icon svg={CircleUser} /> Your account
              </a>
            </li>
          )}
          <li>
            <button type="button" data-theme-switch hidden>
              <Icon svg={Moon} /> Theme: <span data-theme-name>{theme}</span>
            </button>
          </li>
          <li>
            {visit.session === null ? <LogInLink visit={visit} /> : <LogOutButton visit={visit} />}
          </li>
        </ul>
      </div>
    </nav>
  );
}

function LogInLink({ visit }: { readonly visit: Visit }) {
  const next = encodeURIComponent(visit.url.pathname + visit.url.search);
  return (
    <a href={`/login?next=${next}`}>
      <Icon svg={LogIn} /> Log in
    </a>
  );
}

function LogOutButton({ visit }: { readonly visit: Visit }) {
  const label = (
    <>
      <Icon svg={LogOut} /> Log out {visit.principal.name}
    </>
  );
  return <ButtonForm visit={visit} action="leave" to="/enter" label={label} />;
}
