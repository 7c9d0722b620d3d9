/** A dashboard, as far as one differs from the others. */
export interface Dashboard {
  /** Its file is `<name>-grafana.json`. */
  readonly name: string
  /** As upstream's, so that it takes its place. */
  readonly title: string
  readonly uid: string
  /** The job whose instances can be chosen from. */
  readonly job: string
  readonly panels: readonly Panel[]
}

export interface Panel {
  readonly title: string
  /** As Grafana calls units. */
  readonly unit?: 'short' | 's' | 'ms' | 'bytes' | 'percentunit' | 'ops' | 'Bps' | 'pps'
  /** A number in place of a graph: what is there at the moment. */
  readonly isNumber?: boolean
  readonly queries: readonly Query[]
}

interface Query {
  /** In PromQL, without variables but `$instance` in strings. */
  readonly expr: string
  readonly legend?: string
}

const columns = 24
const size = { graph: { w: 8, h: 8 }, number: { w: 4, h: 4 } } as const
const source = { type: 'prometheus', uid: '${datasource}' }

/** Renders what Grafana imports: numbers first, then graphs, three in a row. */
export function renderDashboard({ title, uid, job, panels }: Dashboard): object {
  const ordered = [...panels].sort((a, b) => Number(b.isNumber ?? false) - Number(a.isNumber ?? false))
  let [x, y, rowHeight] = [0, 0, 0]
  return {
    annotations: { list: [] },
    editable: true,
    graphTooltip: 1,
    panels: ordered.map((panel, index) => {
      const { w, h } = panel.isNumber === true ? size.number : size.graph
      if (x + w > columns || (rowHeight > 0 && h !== rowHeight)) [x, y, rowHeight] = [0, y + rowHeight, 0]
      const gridPos = { x, y, w, h }
      ;[x, rowHeight] = [x + w, h]
      return renderPanel(panel, index + 1, gridPos)
    }),
    refresh: '30s',
    schemaVersion: 39,
    tags: ['kube-ovn'],
    templating: { list: [datasourceVariable, instanceVariable(job)] },
    time: { from: 'now-1h', to: 'now' },
    title,
    uid,
    version: 1,
  }
}

/** The chart writes the name of the data source into it. */
const datasourceVariable = {
  name: 'datasource',
  type: 'datasource',
  query: 'prometheus',
  current: { text: '${DS_PROMETHEUS}', value: '${DS_PROMETHEUS}' },
}

function instanceVariable(job: string): object {
  const query = `label_values(process_cpu_seconds_total{job="${job}"}, instance)`
  return {
    name: 'instance',
    type: 'query',
    datasource: source,
    definition: query,
    query: { query, refId: 'instance' },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
    sort: 1,
  }
}

function renderPanel(
  { title, unit = 'short', isNumber = false, queries }: Panel,
  id: number,
  gridPos: object,
): object {
  return {
    id,
    title,
    type: isNumber ? 'stat' : 'timeseries',
    datasource: source,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: isNumber
      ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'none' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint('A'.charCodeAt(0) + index),
      datasource: source,
      expr,
      legendFormat: legend ?? '__auto',
    })),
  }
}
