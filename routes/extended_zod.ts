/**
 * The library of schemas with `openapi`. Import it from here: which schemas are loaded first depends
 * on the first request, and in a bundle the package alone does not extend the library before them.
 */
import { extendZodWithOpenApi, z as library } from "@hono/zod-openapi";

extendZodWithOpenApi(library);

/** A constant of its own: a module that uses it has loaded this one, also in a bundle. */
export const z = library;

/** The types of the library that routes and tools name. */
export declare namespace z {
  type infer<Schema> = library.infer<Schema>;
  type input<Schema> = library.input<Schema>;
  type output<Schema> = library.output<Schema>;
  type ZodType<Output = unknown, Input = unknown> = library.ZodType<Output, Input>;
  type ZodRawShape = library.ZodRawShape;
  type ZodObject<Shape extends ZodRawShape = ZodRawShape> = library.ZodObject<Shape>;
}
