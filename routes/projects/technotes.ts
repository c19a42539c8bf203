import { htmlParameter, pageOf, pageParameters, rangeOf } from "../../services/projects/schemas.ts";
import type { Context } from "hono";
import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { TechnotePage } from "../../services/fossil/mod.ts";
import { actorOf } from "../../services/projects/mod.ts";
import type { TechnoteWriter } from "../../services/technotes/mod.ts";
import { newTechnoteSchema, technoteChangeSchema } from "../../services/technotes/schemas.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { json, jsonRequest } from "../schemas.ts";
import { answerJson, notModified } from "./answers.ts";
import { technoteSchema, technotesSchema } from "./reading_schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

const params = z.object({
  id: z.string().openapi({ description: "The id, or a unique prefix of it" }),
});

const listTechnotes = projectRoute("GET /api/technotes", {
  summary: "Technotes, newest first",
  request: { query: z.object(pageParameters) },
  responses: { 200: json(technotesSchema, "A page"), ...notModified, ...projectErrors(400) },
});

const getTechnote = projectRoute("GET /api/technotes/{id}", {
  summary: "A technote with its versions",
  request: { params, query: z.object(htmlParameter) },
  responses: { 200: json(technoteSchema, "The note"), ...notModified, ...projectErrors(400) },
});

const createTechnote = projectRoute("POST /api/technotes", {
  summary: "Make a technote",
  request: {
    body: jsonRequest(newTechnoteSchema.meta({ id: "TechnoteRequest" }), {
      comment: "The mirrors were down from 10:00 to 10:20",
      content: "A disk was full. We doubled it.",
      tags: ["incident"],
    }),
  },
  responses: { 201: json(technoteSchema, "The note"), ...projectErrors(400, 409, 413) },
});

const changeTechnote = projectRoute("PATCH /api/technotes/{id}", {
  summary: "Write the next version of a technote",
  request: {
    params,
    body: jsonRequest(technoteChangeSchema.meta({ id: "TechnoteChange" }), {
      content: "A disk was full. We doubled it, and watch it now.",
    }),
  },
  responses: { 200: json(technoteSchema, "The note"), ...projectErrors(400, 409, 413) },
});

/** `/api/technotes`. */
export function technoteRoutes(services: Pick<Services, "hosting" | "accounts">) {
  const { hosting: { technotes, texts }, accounts } = services;
  const writerOf = (context: Context<AppEnv>): TechnoteWriter => ({
    caller: callerOf(context),
    actor: actorOf(context.get("access"), undefined, accounts),
  });
  return newRoutes()
    .openapi(listTechnotes, (context) => {
      const page = context.req.valid("query");
      return answerJson<z.infer<typeof technotesSchema>>(context, services, async (repository) => {
        const { total, ...list } = await repository.technotes(rangeOf(page));
        return { ...list, ...pageOf(page, total) };
      });
    })
    .openapi(getTechnote, async (context) => {
      const { id } = context.req.valid("param");
      if (context.req.valid("query").html !== "true") {
        return await answerJson<TechnotePage>(
          context,
          services,
          (repository) => repository.json.technote({ id }),
        );
      }
      const { project } = context.get("access");
      const note = await technotes.read(project, id);
      const { content: text, mimetype } = note;
      const content_html = await texts.html(project, { text, mimetype });
      return context.json(Object.assign(note, { content_html }), 200);
    })
    .openapi(createTechnote, async (context) => {
      const { project } = context.get("access");
      const note = await technotes.create(project, context.req.valid("json"), writerOf(context));
      return context.json(note, 201);
    })
    .openapi(changeTechnote, async (context) => {
      const { project } = context.get("access");
      const { id } = context.req.valid("param");
      const change = context.req.valid("json");
      return context.json(await technotes.change(project, id, change, writerOf(context)), 200);
    });
}
