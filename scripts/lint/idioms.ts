/**
 * A plugin of `deno lint` for two idioms of CONTRIBUTING.md: no object literal is spread into
 * another one, and constructors take few parameters, or one object.
 */

/** Most parameters of a constructor. */
const MAX_PARAMETERS = 3;

/** True for a parameter such as `{ a, b }: Options`, with or without a default. */
function isDestructured(parameter: Deno.lint.Parameter): boolean {
  const { type } = parameter.type === "AssignmentPattern" ? parameter.left : parameter;
  return type === "ObjectPattern";
}

/** Reports `...{ a, b }` in an object. A spread of a condition, `...(c ? { a } : {})`, is fine. */
const needlessSpread: Deno.lint.Rule = {
  create(context) {
    return {
      ObjectExpression({ properties }) {
        for (const property of properties) {
          if (property.type !== "SpreadElement") continue;
          const { argument } = property;
          if (argument.type !== "ObjectExpression") continue;
          const text = context.sourceCode.getText(argument).slice(1, -1).trim();
          context.report({
            node: argument,
            message: "Write these properties without the spread",
            fix: (fixer) =>
              fixer.replaceTextRange(
                [property.range[0], argument.range[1]],
                text.replace(/,$/, ""),
              ),
          });
        }
      },
    };
  },
};

/** Reports constructors with too many parameters, and with one that is destructured. */
const constructorStyle: Deno.lint.Rule = {
  create(context) {
    return {
      'MethodDefinition[kind="constructor"]'({ value }: Deno.lint.MethodDefinition) {
        const parameters = value.params;
        if (parameters.length > MAX_PARAMETERS) {
          const message = `More than ${MAX_PARAMETERS} parameters: take one object, options`;
          context.report({ node: value, message });
        }
        for (const parameter of parameters.filter(isDestructured)) {
          context.report({
            range: parameter.range,
            message: "Name the parameter, such as options, instead of destructuring it",
          });
        }
      },
    };
  },
};

/** The plugin, for `deno.json`. */
const plugin: Deno.lint.Plugin = {
  name: "idioms",
  rules: { "needless-spread": needlessSpread, "constructor-style": constructorStyle },
};

export default plugin;
