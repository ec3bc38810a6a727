import {
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  getNamedType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { type FieldCount, countOf } from './field-count.js';

interface Weight {
  readonly depth: number;
  readonly complexity: number;
}

const NOTHING: Weight = { depth: 0, complexity: 0 };

type Definition = DocumentNode['definitions'][number];
type Fragment = Extract<Definition, { kind: Kind.FRAGMENT_DEFINITION }>;

/**
 * Weighs a document: each part is looked at once, also a fragment that is spread a thousand times, and no deeper than
 * is allowed. So weighing costs no more than reading the text.
 */
export class DocumentWeight {
  aliases = 0;
  complexity = 0;
  isTooDeep = false;

  readonly #fragments = new Map<string, Fragment>();
  readonly #weights = new Map<string, Weight>();
  readonly #schema: GraphQLSchema;
  readonly #maxDepth: number;

  constructor(schema: GraphQLSchema, { definitions }: DocumentNode, maxDepth: number) {
    this.#schema = schema;
    this.#maxDepth = maxDepth;
    for (const definition of definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    }
    for (const definition of definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const { complexity } = this.#weigh(definition.selectionSet, schema.getRootType(definition.operation), 1);
      this.complexity = Math.max(this.complexity, complexity);
    }
  }

  #weigh({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined | null, level: number): Weight {
    if (level > this.#maxDepth) this.isTooDeep = true;
    let [depth, complexity] = [0, 0];
    for (const selection of selections) {
      // Nothing more is learned about a document that is refused.
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
      complexity += inner.complexity;
    }
    return { depth: depth + 1, complexity };
  }

  #weighField(node: FieldNode, parent: GraphQLNamedType | undefined | null, level: number): Weight {
    if (node.alias) this.aliases++;
    if (!node.selectionSet) return { depth: 0, complexity: 1 };
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    const count: FieldCount = countOf(node, field);
    const inner = this.#weigh(node.selectionSet, field && getNamedType(field.type), level + 1);
    return { depth: inner.depth, complexity: 1 + count * inner.complexity };
  }

  #weighFragment(name: string, level: number): Weight {
    const known = this.#weights.get(name);
    if (known) {
      if (level + known.depth > this.#maxDepth) this.isTooDeep = true;
      return known;
    }
    const fragment = this.#fragments.get(name);
    if (!fragment) return NOTHING;
    // One that contains itself is refused elsewhere, and must not keep anybody here.
    this.#weights.set(name, NOTHING);
    const weight = this.#weigh(fragment.selectionSet, this.#typeNamed(fragment.typeCondition.name.value), level + 1);
    this.#weights.set(name, weight);
    return weight;
  }

  #typeNamed(name: string | undefined): GraphQLNamedType | undefined {
    return name === undefined ? undefined : this.#schema.getType(name);
  }
}
