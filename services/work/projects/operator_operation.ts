import { z } from "zod";
import { NotFound } from "../../kernel/errors.ts";
import { ServerOperation } from "../../people/identity/server_operation.ts";
import type { Outcome } from "../../people/identity/operation.ts";
import type { OwnedCall, ProjectOperation } from "./operation.ts";
import type { Projects } from "./projects.ts";

/** Where the operator calls operations from outside of a project. */
export interface OperatorPlace {
  /** The path of the operations in a project, and here: with `{slug}`, unless all projects are meant. */
  readonly from: string;
  readonly to: `/v1/${string}`;
  /** Whose they are here, in place of "a project", in words. */
  readonly whose?: string;
}

interface OwnerServices {
  readonly hosting: { readonly projects: Pick<Projects, "require"> };
}

/** An operation in a project that needs to know only who calls it, and whose it is. */
type OwnedOperation<Ok extends z.ZodType, New extends z.ZodType> =
  & Pick<ProjectOperation<z.ZodObject, never, Ok, New>, "declared">
  & { perform(services: unknown, input: unknown, call: OwnedCall): unknown };

/** Creates what makes operations in a project ones on the server, for the operator. */
export function forOperator({ from, to, whose = "a project" }: OperatorPlace) {
  const owner = to.includes("{slug}") ? { slug: z.string() } : {};
  return <Ok extends z.ZodType, New extends z.ZodType>(operation: OwnedOperation<Ok, New>) => {
    const { needs: _, callers: __, cli: ___, http, summary, refusals = [], ...declared } =
      operation.declared;
    const { input, bodyField, bodyName } = declared;
    const isBody = declared.example !== undefined && bodyField === undefined &&
      !http.includes("{");
    // A schema that judges its fields together cannot get one more.
    const taken = isBody
      ? {
        input: z.object({
          ...owner,
          body: bodyName === undefined ? input : input.meta({ id: bodyName }),
        }),
        bodyField: "body",
      }
      : { input: input.extend(owner) };
    return new ServerOperation<z.ZodObject, OwnerServices, Ok, New>({
      ...declared,
      ...taken,
      http: http.replace(from, to) as typeof http,
      on: "server",
      summary: summary.replace("a project", whose),
      refusals: [{ error: NotFound }, ...refusals],
    }, async (services, { slug, ...fields }, { caller }) => {
      const project = slug === undefined
        ? null
        : services.hosting.projects.require(slug as string).project;
      const given = isBody ? fields["body"] : fields;
      const outcome = await operation.perform(services, given, { project, caller });
      return outcome as Outcome<z.output<Ok>, z.output<New>>;
    });
  };
}
