import type { z } from "zod";
import { viewOf } from "../services/work/projects/mod.ts";
import { ProjectAddresses } from "./addresses.ts";
import { type OpenProject, openProject } from "./project.ts";
import type { Visit } from "./visit.ts";

/** The project of a page about code: what its repository answers, and where its pages are. */
export class CodeProject {
  readonly visit: Visit;
  readonly open: OpenProject;
  /** The addresses of its pages. */
  readonly to: ProjectAddresses;

  /** @throws NotFound if there is no such project, or the visitor may not see it */
  constructor(visit: Visit) {
    this.visit = visit;
    this.open = openProject(visit);
    this.open.access.require("read");
    this.to = new ProjectAddresses(this.slug, visit.services.config.projects.scm);
  }

  get slug(): string {
    return this.open.slug;
  }

  get access(): OpenProject["access"] {
    return this.open.access;
  }

  /** What everybody who sees the project may know of it. */
  get view(): ReturnType<typeof viewOf> {
    return viewOf(this.access.held);
  }

  get isPublic(): boolean {
    return this.access.project.visibility === "public";
  }

  place(...tab: Parameters<OpenProject["place"]>): ReturnType<OpenProject["place"]> {
    return this.open.place(...tab);
  }

  /** Calls an operation in the project; see {@link Visit.invoke}. */
  invoke<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType>(
    operation: Parameters<typeof Visit.prototype.invoke<Input, Ok, New>>[1],
    input: Parameters<typeof Visit.prototype.invoke<Input, Ok, New>>[2],
  ) {
    return this.visit.invoke(this.slug, operation, input);
  }
}
