import { z } from "zod";

/**
 * A list whose elements fit a schema. Only the first one that does not is told of: a request may have
 * hundreds of thousands, and a sentence for each takes a hundred times as long as to read it.
 */
export function listOf<Element extends z.ZodType>(element: Element) {
  return z.array(z.unknown()).transform((values, context) => {
    const read: z.output<Element>[] = [];
    for (const [index, value] of values.entries()) {
      const { data, error } = element.safeParse(value);
      if (error !== undefined) {
        const [issue] = error.issues;
        context.issues.push(
          { ...issue, input: value, path: [index, ...issue?.path ?? []] } as never,
        );
        return z.NEVER;
      }
      read.push(data);
    }
    return read;
  });
}
