export { acceptedSchema, heraldSourceSchema } from "./herald_schemas.ts";
