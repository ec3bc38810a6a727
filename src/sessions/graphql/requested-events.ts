import {
  type GraphQLField,
  type GraphQLResolveInfo,
  Kind,
  type SelectionNode,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { GetSessionConfig } from '../domain/narrowing.js';
import { given } from './given.js';

/**
 * How the events of a session are asked for, so that they are read together with it; none, where they are not. Where
 * they are asked for twice and differently, the second wish is read on its own.
 */
export function requestedEvents(info: GraphQLResolveInfo): GetSessionConfig {
  const field = eventsFieldOf(info);
  const node = info.fieldNodes
    .flatMap(({ selectionSet }) => selectedFields(selectionSet?.selections ?? [], info))
    .find(({ name }) => name.value === 'events');
  return field && node ? given(getArgumentValues(field, node, info.variableValues)) : { numRecentEvents: 0 };
}

function eventsFieldOf({ returnType }: GraphQLResolveInfo): GraphQLField<unknown, unknown> | undefined {
  const type = getNamedType(returnType);
  return isObjectType(type) ? type.getFields().events : undefined;
}

/** The fields at this level, also those in fragments. */
function selectedFields(selections: readonly SelectionNode[], { fragments }: GraphQLResolveInfo) {
  const waiting = [...selections];
  const spread = new Set<string>();
  const fields = [];
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
