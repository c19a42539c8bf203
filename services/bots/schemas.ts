export { heraldSourceSchema } from "./herald_schemas.ts";
