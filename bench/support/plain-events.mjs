const TEXT = 'the order left the warehouse on time and the courier confirmed a delivery window for the afternoon '
  .repeat(4)
  .slice(0, 300);

let made = 0;

/**
 * Events with 300 characters of text, as they arrive from outside: parsed from JSON. No two have the same id.
 *
 * @param {number} count
 * @param {(event: { id: string }) => object} [stateDeltaOf]
 */
export function plainEvents(count, stateDeltaOf = () => ({})) {
  return Array.from({ length: count }, () => {
    made += 1;
    const id = `event-${String(made).padStart(12, '0')}`;
    const event = {
      id,
      author: 'user',
      content: { role: 'user', parts: [{ text: TEXT }] },
      actions: { stateDelta: stateDeltaOf({ id }) },
      invocationId: '',
      timestamp: 1_763_700_000_000 + made,
    };
    return JSON.parse(JSON.stringify(event));
  });
}
