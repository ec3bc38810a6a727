import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { DEFAULT_GRAPHQL_LIMITS, type GraphqlLimits, limitError } from './graphql-limits.js';
import { jsonBytes } from '../../domain/stored/byte-budget.js';
import { ClientGoneError } from '../../transport/answers.js';
import { fieldsIn } from '../selected-fields.js';

type ResponseLimits = Pick<GraphqlLimits, 'maxItems' | 'maxAnswerBytes'>;

/** The size of a result in the response. */
export interface ResponseCost {
  readonly items: number;
  readonly bytes: number;
}

/** The connection of a request, over HTTP or WebSockets. */
export interface Asker {
  readonly socket?: { readonly destroyed?: boolean };
}

const limitsOfSchemas = new WeakMap<GraphQLSchema, ResponseLimits>();
const budgets = new WeakMap<object, ResponseBudget>();

/** Sets the response limits of a schema. */
export function limitResponses(schema: GraphQLSchema, limits: ResponseLimits): void {
  limitsOfSchemas.set(schema, limits);
}

/** The part of `GraphQLResolveInfo` that identifies one execution of a document. */
export type RunInfo = Pick<GraphQLResolveInfo, 'schema' | 'variableValues'>;

/**
 * The limit of the response of one execution, over all its fields. Fields read one after the other, so memory holds at most the
 * budget and one read more, also with many aliases.
 */
export class ResponseBudget {
  #items = 0;
  #bytes = 0;
  #refusal: Error | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #asker: Asker = {};

  constructor(private readonly limits: ResponseLimits) {}

  /** Returns the budget of an execution, which has its own object of variables. Each event of a subscription is an execution. */
  static of({ schema, variableValues }: RunInfo): ResponseBudget {
    const known = budgets.get(variableValues);
    if (known) return known;
    const budget = new ResponseBudget(limitsOfSchemas.get(schema) ?? DEFAULT_GRAPHQL_LIMITS);
    budgets.set(variableValues, budget);
    return budget;
  }

  /** Says who gets the response. Nothing more is read for who has left. */
  readFor(asker: Asker): void {
    this.#asker = asker;
  }

  /** Queues a read, and refuses it when the budget is used up, or nobody is there any more. */
  read<Found>(work: () => Promise<Found>, measure: (found: Found) => ResponseCost): Promise<Found> {
    const turn = this.#turn.then(async () => {
      if (this.#refusal) throw this.#refusal;
      if (this.#asker.socket?.destroyed === true) throw new ClientGoneError();
      const found = await work();
      this.spend(measure(found));
      return found;
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Counts a result that was already read. */
  spend({ items, bytes }: ResponseCost): void {
    const { maxItems, maxAnswerBytes } = this.limits;
    this.#items += items;
    this.#bytes += bytes;
    if (this.#items > maxItems) {
      this.#refusal ??= limitError(`The answer has more than ${maxItems} events and sessions; ask for smaller pages.`);
    } else if (this.#bytes > maxAnswerBytes) {
      this.#refusal ??= limitError(
        `The answer has more than ${maxAnswerBytes} bytes of events and state; ask for less in one document.`,
      );
    }
    if (this.#refusal) throw this.#refusal;
  }
}

/** Fields with a whole event, or with all its changes of the state. Each of them is a copy in the response. */
const WHOLE = new Set(['body', 'statePatch']);
/** Fields with a part of an event or a session. Together they are at most one copy. */
const PARTS = ['content', 'actions', 'state', 'metadata', 'before', 'after'];

/** Returns the size of `entries` in the field of `info`, or in its field `within`. */
export function measureResponseCost(
  entries: readonly unknown[],
  info: GraphQLResolveInfo,
  within?: string,
): ResponseCost {
  const bytes = entries.reduce<number>((sum, entry) => sum + jsonBytes(entry), 0);
  return { items: entries.length, bytes: bytes * copiesIn(info, within) };
}

/** How many copies of an entry the response has. At least one, since it was read. */
export function copiesIn(info: GraphQLResolveInfo, within?: string): number {
  const names = new Map(fieldsIn(info, within).map(({ alias, name }) => [(alias ?? name).value, name.value]));
  const counts = (name: string): number => [...names.values()].filter((each) => each === name).length;
  const copies = [...WHOLE].reduce((sum, name) => sum + counts(name), 0) + Math.max(...PARTS.map(counts));
  return Math.max(1, copies);
}
