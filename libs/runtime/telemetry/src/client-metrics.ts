import { Counter, Histogram, type Registry } from 'prom-client'

/** A request to the API server that was answered, or that got no answer. */
export interface AnsweredRequest {
  readonly method: string
  /** With its query, if it has one. */
  readonly path: string
  readonly host: string
  /** `undefined` when there was no answer. */
  readonly status: number | undefined
  readonly ms: number
}

/** Upstream's: 1 ms, doubled nine times. */
const seconds = Array.from({ length: 10 }, (_, n) => 0.001 * 2 ** n)

/**
 * Metrics of a client of the API server: names, labels and buckets are those of client-go and of upstream.
 *
 * The label `url` names the kind of objects. Upstream's has the namespace as well, and so a family of series for each that comes.
 */
export function clientMetrics(registry: Registry): (request: AnsweredRequest) => void {
  const registers = [registry]
  const total = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by status, method and host.',
    labelNames: ['code', 'method', 'host'],
    registers,
  })
  const latency = new Histogram({
    name: 'rest_client_request_latency_seconds',
    help: 'How long the API server took to begin its answer, by method and kind of objects.',
    labelNames: ['verb', 'url'],
    buckets: seconds,
    registers,
  })
  return ({ method, path, host, status, ms }) => {
    total.inc({ code: status === undefined ? '<error>' : String(status), method, host })
    if (status !== undefined) latency.observe({ verb: method, url: kindOf(path) }, ms / 1000)
  }
}

/** `/api/v1/namespaces/{namespace}/pods` of a pod, of its status and of a list of pods. */
function kindOf(path: string): string {
  const [plain = ''] = path.split('?')
  const [, root, rest = ''] = /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)\/(.+)$/.exec(plain) ?? []
  if (root === undefined) return plain
  const words = rest.split('/')
  return words[0] === 'namespaces' && words.length > 2
    ? `${root}/namespaces/{namespace}/${words[2]}`
    : `${root}/${words[0]}`
}
