import { z } from "zod";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { actorOf } from "../projects/mod.ts";
import { Created, operation, type OperationCall, RepositoryRead } from "../projects/operation.ts";
import { htmlParameter, pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import type { ProjectTexts } from "../texts/mod.ts";
import {
  newTechnoteSchema,
  technoteChangeSchema,
  technoteSchema,
  technotesSchema,
} from "./schemas.ts";
import type { Technotes, TechnoteWriter } from "./technotes.ts";

/** What the operations on technotes call. */
interface TechnoteServices {
  readonly hosting: { readonly technotes: Technotes; readonly texts: ProjectTexts };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

const byId = z.object({
  id: z.string().meta({ description: "The id, or a unique prefix of it" }),
});

const aNote = { schema: technoteSchema, description: "The note" };

function writerOf(
  { accounts }: TechnoteServices,
  { access, caller }: OperationCall,
): TechnoteWriter {
  return { caller, actor: actorOf(access, undefined, accounts) };
}

export const listTechnotes = operation({
  http: "GET /api/technotes",
  needs: "read",
  summary: "Technotes, newest first",
  input: z.object(pageParameters),
  ok: { schema: technotesSchema, description: "A page" },
  isRead: true,
}, (_services, page) =>
  new RepositoryRead(async (repository) => {
    const { total, ...list } = await repository.technotes(rangeOf(page));
    return { ...list, ...pageOf(page, total) };
  }));

export const getTechnote = operation({
  http: "GET /api/technotes/{id}",
  needs: "read",
  summary: "A technote with its versions",
  input: byId.extend(htmlParameter),
  ok: aNote,
  isRead: true,
}, async ({ hosting }: TechnoteServices, { id, html }, { project }) => {
  if (html !== "true") {
    return new RepositoryRead((repository) => repository.json.technote({ id }));
  }
  const note = await hosting.technotes.read(project, id);
  const { content: text, mimetype } = note;
  return { ...note, content_html: await hosting.texts.html(project, { text, mimetype }) };
});

export const createTechnote = operation({
  http: "POST /api/technotes",
  needs: "write",
  summary: "Make a technote",
  input: newTechnoteSchema,
  bodyName: "TechnoteRequest",
  example: {
    comment: "The mirrors were down from 10:00 to 10:20",
    content: "A disk was full. We doubled it.",
    tags: ["incident"],
  },
  created: aNote,
}, async (services: TechnoteServices, note, call) => {
  const { technotes } = services.hosting;
  return new Created(await technotes.create(call.project, note, writerOf(services, call)));
});

export const changeTechnote = operation({
  http: "PATCH /api/technotes/{id}",
  needs: "write",
  summary: "Write the next version of a technote",
  input: technoteChangeSchema.extend(byId.shape),
  bodyName: "TechnoteChange",
  example: { content: "A disk was full. We doubled it, and watch it now." },
  ok: aNote,
}, async (services: TechnoteServices, { id, ...change }, call) => {
  const { technotes } = services.hosting;
  return await technotes.change(call.project, id, change, writerOf(services, call));
});
