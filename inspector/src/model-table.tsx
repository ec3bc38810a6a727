import type { UsageReport } from '../../src/client/index.js';
import { amountOf } from './counted-usage.js';
import { duration, figureText } from './times.js';
import type { LogFigures } from './turn-usage.js';

/** What each model used, cost, and how fast it was. */
export function ModelTable(props: { readonly figures: LogFigures; readonly report: UsageReport | undefined }) {
  const { figures, report } = props;
  const { models, total } = figures;
  const costs = new Map(report?.models.map(({ model, costMicros }) => [model, costMicros]));
  const hasCost = [...costs.values()].some((micros) => micros !== undefined);
  return (
    <section class="by-model" aria-label="By model">
      <h3>By model</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Events</th>
            <th scope="col">Tokens</th>
            {hasCost && <th scope="col">Cost</th>}
            <th scope="col">Median</th>
            <th scope="col">Slowest</th>
          </tr>
        </thead>
        <tbody>
          {models.map(({ model, events, totalTokens, medianMs, slowestMs }) => (
            <tr key={model}>
              <th scope="row">
                <bdi>{model}</bdi>
              </th>
              <td>{events.toLocaleString()}</td>
              <td>{totalTokens.toLocaleString()}</td>
              {hasCost && <td>{figureText(costs.get(model), amountOf)}</td>}
              <td>{figureText(medianMs, duration)}</td>
              <td>{figureText(slowestMs, duration)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {report && <CostHints report={report} tokens={total.totalTokens} />}
    </section>
  );
}

/** What has to be known to read the cost. */
function CostHints(props: { readonly report: UsageReport; readonly tokens: number }) {
  const { total, unpricedModels } = props.report;
  return (
    <>
      {total.totalTokens !== props.tokens && (
        <p class="hint">
          The cost is that of the {total.totalTokens.toLocaleString()} tokens that the app has counted for this session.
        </p>
      )}
      {unpricedModels.length > 0 && (
        <p class="hint">
          Without a price in <code>usage.prices</code>:{' '}
          {unpricedModels.map((model, index) => (
            <>
              {index > 0 && ', '}
              <bdi>{model}</bdi>
            </>
          ))}
        </p>
      )}
    </>
  );
}
