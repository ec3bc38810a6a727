import { type ValidationRule, GraphQLError } from 'graphql';
import { limitResponses } from './response-budget.js';
import { DocumentCost } from './document-cost.js';
import { type GraphqlLimits, graphqlLimits, limitError } from './graphql-limits.js';

/**
 * Validation rules for any GraphQL server: they limit depth, aliases, complexity and list entries of documents, and also set
 * the limits of responses.
 *
 * @example
 * const problems = validate(schema, document, [...specifiedRules, ...sessionsLimitRules({ maxDepth: 10 })]);
 */
export function sessionsLimitRules(limits: Partial<GraphqlLimits> = {}): ValidationRule[] {
  const all = graphqlLimits(limits);
  return [
    (context) => ({
      Document(document) {
        limitResponses(context.getSchema(), all);
        const cost = DocumentCost.of(context.getSchema(), document, all.maxDepth);
        for (const problem of problemsOf(cost, all)) context.reportError(limitError(problem));
      },
    }),
  ];
}

function problemsOf({ isTooDeep, aliases, complexity, items }: DocumentCost, limits: GraphqlLimits): string[] {
  const { maxDepth, maxAliases, maxComplexity, maxItems } = limits;
  // A document that is too deep was not measured further.
  if (isTooDeep) return [`The document is nested deeper than ${maxDepth} levels.`];
  if (aliases > maxAliases) return [`The document has more than ${maxAliases} aliases.`];
  if (complexity > maxComplexity) {
    return [`The document asks for more than ${maxComplexity} fields; ask for smaller pages.`];
  }
  if (items > maxItems) {
    return [`The document asks for more than ${maxItems} events and sessions; ask for smaller pages.`];
  }
  return [];
}

/** The part of an Apollo request that is used here. */
interface RequestContext {
  readonly request: { query?: string | undefined };
}

/** The part of an Apollo plugin that is used here. */
export interface TextLimitPlugin {
  requestDidStart(context: RequestContext): Promise<{ didResolveOperation(): Promise<void> } | undefined>;
}

/** Parsed instead of a text that is too long. */
const STUB = '{ __typename }';

/** Returns the error for a text that is too long. */
export function textProblem(text: string, maxTextBytes: number): GraphQLError | undefined {
  if (Buffer.byteLength(text) <= maxTextBytes) return undefined;
  return limitError(`The document is longer than ${maxTextBytes} bytes; send values as variables.`);
}

/**
 * An Apollo plugin that limits the length of documents before parsing: `maxTokens` does not count comments. Apollo reports
 * errors before parsing as server errors, so a stub is parsed and then refused.
 */
export function textLimitPlugin(maxTextBytes: number): TextLimitPlugin {
  return {
    async requestDidStart({ request }: RequestContext) {
      const problem = textProblem(request.query ?? '', maxTextBytes);
      if (!problem) return undefined;
      request.query = STUB;
      return {
        async didResolveOperation(): Promise<void> {
          const { message, extensions } = problem;
          // The status of other refused documents. Apollo removes `http` from the response.
          throw new GraphQLError(message, { extensions: { ...extensions, http: { status: 400 } } });
        },
      };
    },
  };
}
