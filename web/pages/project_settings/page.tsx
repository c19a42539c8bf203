import type { Child } from "hono/jsx";
import { Forbidden, NotFound } from "../../../services/kernel/errors.ts";
import { type Action, definePage, type View } from "../../page.ts";
import { openManagedProject, type OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { checks } from "./checks.tsx";
import { general } from "./general.tsx";
import { members } from "./members.tsx";
import { node } from "./node.tsx";
import { mirror } from "./mirror.tsx";
import type { SettingsPart } from "./part.ts";
import { protection } from "./protection.tsx";
import { repository } from "./repository.tsx";
import { ticketFields } from "./ticket_fields.tsx";
import { tokens } from "./tokens.tsx";
import { webhooks } from "./webhooks.tsx";

/**
 * Refuses a form of a page that people may see and only admins may change.
 *
 * @throws Forbidden
 */
function requireAdmin({ isAdmin }: Pick<Visit, "isAdmin">): void {
  if (!isAdmin) throw new Forbidden("Only admins may do this");
}

/** The parts of the settings, by the last part of their address. */
const PARTS: Readonly<Record<string, SettingsPart>> = {
  general,
  members,
  protection,
  tickets: ticketFields,
  checks,
  webhooks,
  mirror,
  tokens,
  repository,
  node,
};

/** The settings of a project, for its admins and those of the server. */
export const page = definePage({
  opens: "session",
  show: (visit) => view(visit),
  actions: Object.fromEntries(
    Object.values(PARTS).flatMap((part) =>
      Object.keys(part.actions).map((name) => [name, actionOf(part, name)] as const)
    ),
  ),
});

/** The action of a form: it checks who may use the part, and says what was done. */
function actionOf(part: SettingsPart, name: string): Action {
  return async (visit) => {
    const project = openManagedProject(visit);
    if (part.isForServer) requireAdmin(visit);
    const outcome = await part.actions[name]?.(visit, project) ?? "";
    if (typeof outcome === "string") return { to: placeOf(visit), notice: outcome };
    return "to" in outcome ? outcome : await view(visit, outcome.issued);
  };
}

/** The address of the part, also with a chosen webhook. */
function placeOf(visit: Visit): string {
  return visit.url.pathname + visit.url.search;
}

/** @param issued what the last form made, such as a secret; it is shown only now */
async function view(visit: Visit, issued: Child = null): Promise<View> {
  const project = openManagedProject(visit);
  const isProjects = project.access.may("admin");
  if (!isProjects && !visit.isAdmin) {
    throw new Forbidden("Only admins of the project see its settings");
  }
  const { self } = visit.services.nodes;
  const shown = Object.entries(PARTS).filter(([name, { isForServer }]) =>
    (isForServer ? visit.isAdmin : isProjects) && (name !== "node" || self !== null)
  );
  const name = visit.param("part") || (shown[0]?.[0] ?? "");
  const part = shown.find(([key]) => key === name)?.[1];
  if (part === undefined) throw refusalOf(name);
  const content = await part.show(visit, project);
  const body = (
    <>
      <h1>Settings</h1>
      <div class="project-settings">
        <nav aria-label="Settings">
          <ul>
            {shown.map(([key, { words }]) => (
              <li>
                <a
                  href={`${project.base}/settings/${key}`}
                  aria-current={key === name ? "page" : undefined}
                >
                  {words}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div>
          {issued}
          {!isProjects && <NotMember project={project} />}
          {content}
        </div>
      </div>
    </>
  );
  return {
    title: `${part.words} · settings`,
    body,
    project: project.place("settings"),
    ...project.access.may("read") ? { live: project.live } : {},
  };
}

function refusalOf(name: string): Error {
  if (PARTS[name] === undefined) return new NotFound("The settings have no such part");
  return new Forbidden(
    PARTS[name].isForServer
      ? "Only admins of the server change this"
      : "Only admins of the project change this: make yourself one under Members",
  );
}

function NotMember({ project }: { readonly project: OpenProject }) {
  return (
    <div class="notice">
      <p>
        You are no admin of this project. Add yourself as one under{" "}
        <a href={`${project.base}/settings/members`}>Members</a>{" "}
        to see its other settings, such as webhooks and branch protection.
      </p>
    </div>
  );
}
