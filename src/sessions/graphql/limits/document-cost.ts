import { Extensions } from '@nestjs/graphql';
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  type GraphQLField,
} from 'graphql';
import { MAX_LIMIT } from '../../domain/values/paging.js';

interface Cost {
  readonly complexity: number;
  /** Entries of lists whose length the caller chooses. */
  readonly items: number;
}

interface Weight {
  readonly depth: number;
  /** Of what is there once. */
  readonly once: Cost;
  /** Of what is there for each entry of lists whose length is chosen further out, as `nodes` of a page. */
  readonly each: Cost;
}

const FREE: Cost = { complexity: 0, items: 0 };
const NOTHING: Weight = { depth: 0, once: FREE, each: FREE };

type Definition = DocumentNode['definitions'][number];
type Fragment = Extract<Definition, { kind: Kind.FRAGMENT_DEFINITION }>;

const measured = new WeakMap<DocumentNode, DocumentCost>();

const WORK = 'nestjs-agent-sessions:work';

/** The field takes its time, and answers with what it wrote, as `AnswersWithWork` of REST. */
export const AnswersWithWork = (): MethodDecorator => Extensions({ [WORK]: true });

/**
 * Measures a document. It visits each part once, even a fragment with many spreads, and stops at the maximum depth. So
 * the time is linear in the length of the text.
 */
export class DocumentCost {
  aliases = 0;
  complexity = 0;
  items = 0;
  isTooDeep = false;
  /** Whether it has a field with {@link AnswersWithWork}. */
  isWork = false;

  readonly #fragments = new Map<string, Fragment>();
  readonly #weights = new Map<string, Weight>();
  readonly #schema: GraphQLSchema;
  readonly #maxDepth: number;

  private constructor(schema: GraphQLSchema, { definitions }: DocumentNode, maxDepth: number) {
    this.#schema = schema;
    this.#maxDepth = maxDepth;
    for (const definition of definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    }
    for (const definition of definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const { once, each } = this.#weigh(definition.selectionSet, schema.getRootType(definition.operation), 1);
      const { complexity, items } = plus(once, each);
      this.complexity = Math.max(this.complexity, complexity);
      this.items = Math.max(this.items, items);
    }
  }

  /** Measures each document once, although validation and execution both need its cost. */
  static of(schema: GraphQLSchema, document: DocumentNode, maxDepth: number): DocumentCost {
    const known = measured.get(document);
    if (known && known.#schema === schema && known.#maxDepth === maxDepth) return known;
    const cost = new DocumentCost(schema, document, maxDepth);
    measured.set(document, cost);
    return cost;
  }

  #weigh({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined | null, level: number): Weight {
    if (level > this.#maxDepth) this.isTooDeep = true;
    let { depth, once, each } = NOTHING;
    for (const selection of selections) {
      // The document is already refused.
      if (this.isTooDeep) return NOTHING;
      const inner =
        selection.kind === Kind.FIELD
          ? this.#weighField(selection, parent, level)
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? this.#weighFragment(selection.name.value, level)
            : this.#weigh(
                selection.selectionSet,
                this.#typeNamed(selection.typeCondition?.name.value) ?? parent,
                level + 1,
              );
      depth = Math.max(depth, inner.depth);
      once = plus(once, inner.once);
      each = plus(each, inner.each);
    }
    return { depth: depth + 1, once, each };
  }

  #weighField(node: FieldNode, parent: GraphQLNamedType | undefined | null, level: number): Weight {
    if (node.alias) this.aliases++;
    const own = { complexity: 1, items: 0 };
    if (!node.selectionSet) return { depth: 0, once: own, each: FREE };
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    if (field?.extensions[WORK] === true) this.isWork = true;
    const { count, isList: isChosen } = estimateFieldCount(node, field);
    const { depth, once, each } = this.#weigh(node.selectionSet, field && getNamedType(field.type), level + 1);
    const isList = !field || isListType(getNullableType(field.type));
    if (!isChosen)
      return isList ? { depth, once: own, each: plus(once, each) } : { depth, once: plus(own, once), each };
    const chosen = { complexity: 1, items: count };
    const inner = isList ? times(count, plus(once, each)) : plus(once, times(count, each));
    return { depth, once: plus(chosen, inner), each: FREE };
  }

  #weighFragment(name: string, level: number): Weight {
    const known = this.#weights.get(name);
    if (known) {
      if (level + known.depth > this.#maxDepth) this.isTooDeep = true;
      return known;
    }
    const fragment = this.#fragments.get(name);
    if (!fragment) return NOTHING;
    // A fragment that contains itself is refused elsewhere. It must not cause endless recursion here.
    this.#weights.set(name, NOTHING);
    const weight = this.#weigh(fragment.selectionSet, this.#typeNamed(fragment.typeCondition.name.value), level + 1);
    this.#weights.set(name, weight);
    return weight;
  }

  #typeNamed(name: string | undefined): GraphQLNamedType | undefined {
    return name === undefined ? undefined : this.#schema.getType(name);
  }
}

function plus(one: Cost, other: Cost): Cost {
  return { complexity: one.complexity + other.complexity, items: one.items + other.items };
}

function times(count: number, { complexity, items }: Cost): Cost {
  return { complexity: count * complexity, items: count * items };
}

/** How often the response repeats the fields inside a field. */
interface FieldCount {
  readonly count: number;
  /** Whether the field returns a list whose length the caller chooses. */
  readonly isList: boolean;
}

/** The arguments that set the number of entries. A field with both has pages, so that the first one counts. */
const SIZES = ['first', 'numRecentEvents'] as const;

const ONE: FieldCount = { count: 1, isList: false };

/**
 * The value of the argument, or its default. A variable can have any value, and a list without a number can be long, so
 * both count as the largest page.
 */
function estimateFieldCount({ arguments: given = [] }: FieldNode, field?: GraphQLField<unknown, unknown>): FieldCount {
  const argument = SIZES.map((size) => field?.args.find(({ name }) => name === size)).find(
    (each) => each !== undefined,
  );
  const size = given.find(({ name }) => (argument ? name.value === argument.name : isSize(name.value)))?.value;
  if (size === undefined || size.kind === Kind.NULL) {
    if (!argument) return ONE;
    const { defaultValue } = argument;
    return { count: typeof defaultValue === 'number' ? defaultValue : MAX_LIMIT, isList: true };
  }
  const isNumber = size.kind === Kind.INT || size.kind === Kind.FLOAT;
  return { count: isNumber ? Math.max(0, Number(size.value)) : MAX_LIMIT, isList: true };
}

function isSize(name: string): boolean {
  return SIZES.some((size) => size === name);
}
