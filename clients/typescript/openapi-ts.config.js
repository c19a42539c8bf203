/** How src/generated is written from the server's document: one class with a method an operation. */
export default {
  input: process.env.MUSTER_OPENAPI ?? "http://127.0.0.1:8080/openapi.json",
  output: { path: "src/generated", importFileExtension: ".js" },
  plugins: [
    { name: "@hey-api/client-fetch", throwOnError: true },
    "@hey-api/typescript",
    {
      name: "@hey-api/sdk",
      responseStyle: "data",
      operations: { strategy: "single", containerName: "Operations", methods: "instance" },
    },
  ],
};
