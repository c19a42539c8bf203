/**
 * The library of schemas with `openapi`. Modules that the command line loads before the routes import
 * it from here: in a bundle, the package extends the library only when the routes are loaded.
 */
import { extendZodWithOpenApi, z } from "@hono/zod-openapi";

extendZodWithOpenApi(z);

export { z };
