import type { ModelRequestReport } from '../../src/sessions/domain/event/request-report.js';
import { usageOfEvent } from '../../src/sessions/domain/usage/usage.js';
import { duration } from './times.js';

/** The model, how long it took, and the tokens that went in and came out. */
export function RequestFigures({ report }: { readonly report: ModelRequestReport }) {
  const { model, usage, durationMs } = report;
  const counted = usageOfEvent({ usageMetadata: usage, modelVersion: model });
  const cached = Math.min(counted?.cachedTokens ?? 0, counted?.promptTokens ?? 0);
  const figures = [
    ['Model', model ?? 'not said'],
    ['Time', durationMs === undefined ? 'not said' : duration(durationMs)],
    ...(counted
      ? [
          ['Tokens in', counted.promptTokens.toLocaleString()],
          ['Of them cached', cached.toLocaleString()],
          ['Tokens out', (counted.outputTokens + counted.thinkingTokens).toLocaleString()],
        ]
      : [['Tokens', 'not said']]),
  ];
  return (
    <dl class="headline" aria-label="Figures of the request">
      {figures.map(([name, figure]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <bdi>{figure}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
