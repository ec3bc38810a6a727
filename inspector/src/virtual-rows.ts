import {
  type PartialKeys,
  Virtualizer,
  type VirtualizerOptions,
  elementScroll,
  observeElementOffset,
  observeElementRect,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

type Options = PartialKeys<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'observeElementRect' | 'observeElementOffset' | 'scrollToFn'
>;

/** Draws only the rows of a long list that can be seen. */
export function useVirtualRows(options: Options): Virtualizer<HTMLElement, HTMLElement> {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const resolved = {
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    ...options,
    onChange: () => redraw(undefined),
  };
  const [rows] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(resolved));
  rows.setOptions(resolved);
  // The names that frameworks call, as the package says.
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => rows._didMount(), [rows]);
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => rows._willUpdate());
  return rows;
}
