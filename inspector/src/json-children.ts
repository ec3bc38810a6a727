import { type ComponentChildren, isValidElement, options } from 'preact';

/**
 * Shows an object of an event as JSON where the page expects a text. Apps may store any JSON in fields that no rule reads, such as
 * `errorCode`. Preact takes an object for an element: it fails, and writes into the object.
 */
const before = { ...options };
options.vnode = (vnode) => {
  const { type, props } = vnode;
  if (typeof type === 'string' && typeof props.children === 'object') props.children = shown(props.children);
  before.vnode?.(vnode);
};

function shown(child: ComponentChildren): ComponentChildren {
  if (Array.isArray(child)) return child.map(shown);
  return typeof child === 'object' && child !== null && !isValidElement(child) ? JSON.stringify(child) : child;
}
