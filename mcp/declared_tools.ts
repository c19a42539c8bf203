/** Tools that operations are by declaration (`mcp` in a declaration). */

import { z } from "zod";
import type {
  Declaration,
  ToolDeclaration,
  ToolList,
} from "../services/people/identity/operation.ts";
import type { Cut, Data } from "./budget.ts";
import { listCut, partShape } from "./parts.ts";
import { type Tool, tool, type ToolAnswer, type ToolHead } from "./tool.ts";
import type { AnyOperation, Part, ToolCall } from "./tool_call.ts";

/** An operation, whatever its input and answer are. */
type Declared = ToolHead & Declaration<z.ZodObject, z.ZodType, z.ZodType>;

/** The tools that operations say they are, in the order of {@link inOrder}. */
export function declaredTools(operations: readonly AnyOperation[]): readonly Tool[] {
  return operations.flatMap((operation) => {
    const { mcp } = operation.declared;
    return mcp === undefined ? [] : [declaredTool(operation, mcp)];
  });
}

function declaredTool(operation: AnyOperation, mcp: ToolDeclaration): Tool {
  const { declared } = operation;
  const { name, about: description, names = {}, list, cuts = [], hints, advice } = mcp;
  const shape = argumentsOf(declared, mcp);
  const own = Object.keys(shape);
  const answerShape = answerShapeOf(declared, mcp);
  const shown = Object.keys(answerShape);
  return tool({
    name,
    description,
    does: operation,
    input: { ...shape, ...list === undefined ? {} : partShape(list.limit) },
    output: answerShape,
    isLong: true,
    ...hints === undefined ? {} : { hints },
    ...advice === undefined ? {} : { advice },
    async run(input, call, given) {
      const entries = own.flatMap((argument) =>
        argument in given ? [[names[argument] ?? argument, given[argument]]] : []
      );
      const asked: Data = Object.fromEntries(entries);
      if (list !== undefined) {
        return await partOf(call, operation, { asked, list, shown, part: input as Part });
      }
      const answer = await call.invokeAny(operation, asked);
      const data = answer === undefined ? DONE : picked(answer, shown);
      return { data, cuts: cuts.map((field): Cut => ({ field, noun: field })) };
    },
  });
}

/** What a tool answers whose operation answers nothing. */
const DONE = { done: true };

/** The arguments of a tool, by their names. */
function argumentsOf({ input }: Declared, { takes, names = {}, list }: ToolDeclaration) {
  const fields: Readonly<Record<string, z.ZodType>> = input.shape;
  const paging = list === undefined ? [] : ["page", "per_page", "limit", "offset"];
  const wanted = takes ??
    Object.fromEntries(
      Object.keys(fields).filter((key) => !paging.includes(key)).map((key) => [key, null]),
    );
  const shape: Record<string, z.ZodType> = {};
  for (const [argument, said] of Object.entries<string | z.ZodType | null>(wanted)) {
    const field = fields[names[argument] ?? argument];
    if (field === undefined) throw new Error(`The operation takes no "${argument}"`);
    if (said === null) shape[argument] = field;
    else shape[argument] = typeof said === "string" ? field.describe(said) : said;
  }
  return shape;
}

/** The fields that a tool shows. */
function answerShapeOf(
  declared: Declared,
  { shows, hides = [], list }: ToolDeclaration,
): z.ZodRawShape {
  const { created } = declared;
  const schema = declared.ok?.schema ??
    (created !== undefined && "schema" in created ? created.schema : undefined);
  if (schema === undefined) return { done: z.literal(true) };
  const fields = fieldsOf(schema, list);
  const wanted = shows ?? (list === undefined ? Object.keys(fields) : [list.field]);
  const shape = wanted.filter((field) => !hides.includes(field)).map((
    field,
  ) => [field, fields[field] ?? z.unknown()]);
  return { ...Object.fromEntries(shape), ...list === undefined ? {} : { total: z.int() } };
}

function fieldsOf(schema: z.ZodType, list: ToolList | undefined): z.ZodRawShape {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (list === undefined) throw new Error("An answer of a tool has fields, or is a list");
  return { [list.field]: schema };
}

/** A part of a list, however the operation reads it. */
async function partOf(
  call: ToolCall,
  operation: AnyOperation,
  { asked, list, shown, part }: {
    readonly asked: Data;
    readonly list: ToolList;
    readonly shown: readonly string[];
    readonly part: Part;
  },
): Promise<ToolAnswer> {
  const read = async (more: Data): Promise<Data> => {
    const answer = await call.invokeAny(operation, { ...asked, ...more });
    return Array.isArray(answer) ? { [list.field]: answer } : answer as Data;
  };
  const entriesOf = (answer: Data) => answer[list.field] as readonly unknown[];
  const { answer, entries, total } = await readPart();
  const data = { ...picked(answer, shown), [list.field]: entries, total };
  return { data, cuts: [listCut(list.field, list.noun, { first: part.offset, total })] };

  async function readPart() {
    const takes = operation.declared.input.shape;
    if ("per_page" in takes) {
      const readPage = async (page: object) =>
        await read({ ...page }) as Data & { readonly total: number };
      const paged = await call.part(part, readPage, entriesOf);
      return { ...paged, total: paged.answer.total };
    }
    const { limit, offset } = part;
    if ("offset" in takes) {
      const answer = await read({ limit, offset });
      return { answer, entries: entriesOf(answer), total: Number(answer["total"]) };
    }
    const answer = await read({});
    const all = entriesOf(answer);
    return { answer, entries: all.slice(offset, offset + limit), total: all.length };
  }
}

function picked(answer: unknown, fields: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(answer as Data);
  return Object.fromEntries(entries.filter(([field]) => fields.includes(field)));
}
