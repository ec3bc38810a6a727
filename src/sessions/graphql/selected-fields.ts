import {
  type FieldNode,
  type GraphQLResolveInfo,
  Kind,
  type SelectionNode,
  type GraphQLField,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { GetSessionConfig } from '../domain/view/view-config.js';
import { omitNulls } from './omit-nulls.js';

/** Returns the fields at this level, including those in fragments. */
function selectedFields(
  selections: readonly SelectionNode[],
  { fragments }: Pick<GraphQLResolveInfo, 'fragments'>,
): FieldNode[] {
  const waiting = [...selections];
  const spread = new Set<string>();
  const fields: FieldNode[] = [];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.kind === Kind.FIELD) fields.unshift(node);
    else if (node.kind === Kind.INLINE_FRAGMENT) waiting.push(...node.selectionSet.selections);
    else if (!spread.has(node.name.value)) {
      spread.add(node.name.value);
      waiting.push(...(fragments[node.name.value]?.selectionSet.selections ?? []));
    }
  }
  return fields;
}

/** Returns the fields inside the field of `info`, or inside its field `within`. */
export function fieldsIn(info: GraphQLResolveInfo, within?: string): FieldNode[] {
  const below = (nodes: readonly FieldNode[]): FieldNode[] =>
    nodes.flatMap(({ selectionSet }) => selectedFields(selectionSet?.selections ?? [], info));
  const fields = below(info.fieldNodes);
  return within === undefined ? fields : below(fields.filter(({ name }) => name.value === within));
}

/** Whether a field is selected. */
export function isSelected(field: string, info: GraphQLResolveInfo, within?: string): boolean {
  return fieldsIn(info, within).some(({ name }) => name.value === field);
}

/**
 * Returns the arguments of the `events` of a session, so that they are read with it. Without `events`, none are read. With
 * different arguments under two aliases, the second selection is read separately.
 */
export function requestedEvents(info: GraphQLResolveInfo): GetSessionConfig {
  const field = eventsFieldOf(info);
  const node = info.fieldNodes
    .flatMap(({ selectionSet }) => selectedFields(selectionSet?.selections ?? [], info))
    .find(({ name }) => name.value === 'events');
  return field && node ? omitNulls(getArgumentValues(field, node, info.variableValues)) : { numRecentEvents: 0 };
}

function eventsFieldOf({ returnType }: GraphQLResolveInfo): GraphQLField<unknown, unknown> | undefined {
  const type = getNamedType(returnType);
  return isObjectType(type) ? type.getFields().events : undefined;
}
