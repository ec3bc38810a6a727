import { GraphQLError, type ValidationRule } from 'graphql';
import { DocumentWeight } from './document-weight.js';
import { DEFAULT_GRAPHQL_LIMITS, type GraphqlLimits } from './graphql-limits.js';

/**
 * Validation rules that refuse documents which ask for too much, for any server: depth, aliases, complexity.
 *
 * @example
 * const problems = validate(schema, document, [...specifiedRules, ...sessionsLimitRules({ maxDepth: 10 })]);
 */
export function sessionsLimitRules(limits: Partial<GraphqlLimits> = {}): ValidationRule[] {
  const all = { ...DEFAULT_GRAPHQL_LIMITS, ...limits };
  return [
    (context) => ({
      Document(document) {
        const weight = new DocumentWeight(context.getSchema(), document, all.maxDepth);
        for (const problem of problemsOf(weight, all)) context.reportError(tooMuch(problem));
      },
    }),
  ];
}

/** What is too much, in the words and with the code of sessions. */
export function tooMuch(problem: string): GraphQLError {
  return new GraphQLError(problem, { extensions: { code: 'LIMIT_EXCEEDED', status: 413 } });
}

function problemsOf({ isTooDeep, aliases, complexity }: DocumentWeight, limits: GraphqlLimits): string[] {
  const { maxDepth, maxAliases, maxComplexity } = limits;
  // Of one that is too deep, no more is known.
  if (isTooDeep) return [`The document is nested deeper than ${maxDepth} levels.`];
  return [
    ...(aliases > maxAliases ? [`The document has more than ${maxAliases} aliases.`] : []),
    ...(complexity > maxComplexity
      ? [`The document asks for more than ${maxComplexity} fields; ask for smaller pages.`]
      : []),
  ];
}
