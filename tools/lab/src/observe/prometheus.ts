import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseYaml, stringify } from 'yaml'
import { chartNamespace } from '../chart.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { labelsOf } from '../cluster/leftovers.ts'
import { removeContainer } from '../docker/container.ts'
import { ensureLabImage } from '../docker/image.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { deleteAll } from '../kubernetes/manifests.ts'
import { eventually } from '../kubernetes/wait.ts'
import { insideContainer, runAt } from '../namespaces.ts'
import { fetchText } from '../probe/tcp.ts'
import { repository } from '../paths.ts'
import { runProgram, tryProgram } from '../program.ts'

const port = 9090
const account = 'lab-prometheus'
/** The chart has it if metrics are not for everybody. */
const readers = 'kube-ovn-metrics-reader'
const inContainer = '/lab'
/** Seconds after which it hangs: it answers questions beside its scrapes, on a machine that is busy. */
const patience = '120'
/** Seconds; the dashboards and alerts of the chart are made for 15. */
const scrapeSeconds = 1
/** With what promtool ends when it finds fault with what it could read. */
const faultsFound = 3
/** How many times faster than on a cluster all is: a minute of a rule is as long as the scrapes that it has there. */
const speedUp = 15

/** A series, and its values over time: seconds since the epoch, and the value as text. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>
  /** Of a question about one moment. */
  readonly value?: readonly [number, string]
  /** Of a question about a stretch. */
  readonly values?: readonly (readonly [number, string])[]
}

interface ScrapeTarget {
  readonly labels: Readonly<Record<string, string>>
  readonly health: 'up' | 'down' | 'unknown'
  readonly lastError: string
  readonly scrapeUrl: string
}

/** A Prometheus that scrapes a lab and goes by the chart's alerts. */
export interface Prometheus extends AsyncDisposable {
  /** The answer at this moment. */
  query(expression: string): Promise<readonly Series[]>
  /** The answers over the last seconds. */
  queryRange(expression: string, seconds: number): Promise<readonly Series[]>
  targets(): Promise<readonly ScrapeTarget[]>
  /** The page of a target, as it is scraped. */
  readPage(target: ScrapeTarget): Promise<string>
  /**
   * What promtool finds fault with in a page, a line each.
   *
   * @throws if it can not read it
   */
  findFaults(page: string): Promise<readonly string[]>
  /** Names of alerts that fire. */
  firing(): Promise<readonly string[]>
}

interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for: string
}

/** The chart's alerts. */
export const alertRules: readonly AlertRule[] = alertGroups().flatMap(({ rules }) => rules)

interface AlertGroup {
  readonly name: string
  readonly rules: readonly AlertRule[]
}

function alertGroups(): readonly AlertGroup[] {
  const text = readFileSync(join(repository, 'helm/kube-ovn/files/alerts.yaml'), 'utf8')
  return parseYaml(text) as readonly AlertGroup[]
}

/** How long a stretch of a cluster's time takes here. */
export function acceleratedMs(minutes: number): number {
  return (minutes * 60_000) / speedUp
}

/** An expression or a time of a rule, as many times faster as the lab's Prometheus is. */
export function accelerated(text: string): string {
  return text.replaceAll(/\b(\d+)m\b/g, (_, minutes: string) => `${(Number(minutes) * 60) / speedUp}s`)
}

/**
 * Starts a Prometheus beside the control plane, from where it reaches nodes and pods.
 *
 * It finds what to scrape by the API server, as it is told to where there is no operator: by the port `metrics` of the Services, with the name of
 * the Service as job. Where metrics are not for everybody, it shows a token of an account that may read metrics and nothing else.
 */
export async function startPrometheus(cluster: Cluster): Promise<Prometheus> {
  await using stack = new AsyncDisposableStack()
  const image = await ensureLabImage('prometheus')
  const isSecure =
    (await kubectl(cluster, 'get', 'clusterrole', readers, '--ignore-not-found', '-o', 'name')) !== ''
  const directory = join(cluster.directory, 'prometheus')
  mkdirSync(directory, { recursive: true })
  const write = (name: string, content: string): void => writeFileSync(join(directory, name), content)
  const token = isSecure ? await makeReader(cluster, stack) : undefined
  if (token !== undefined) write('token', token)
  write('kubeconfig', readFileSync(cluster.kubeconfig, 'utf8'))
  write('prometheus.yaml', stringify(configuration(cluster, isSecure)))
  write('alerts.yaml', stringify({ groups: alertGroups().map(acceleratedGroup) }))
  const name = `${cluster.control.name}-prometheus`
  await removeContainer(name)
  const flags = [`--config.file=${inContainer}/prometheus.yaml`, '--storage.tsdb.path=/tmp/prometheus']
  const labels = Object.entries(labelsOf(cluster.topology, cluster.blocks))
  await runProgram('docker', [
    ...['run', '--detach', '--rm', `--name=${name}`, `--network=container:${cluster.control.id}`],
    // So it goes with the lab, whatever becomes of this process.
    ...labels.map(([label, value]) => `--label=${label}=${value}`),
    ...[`--volume=${directory}:${inContainer}:ro`, image, 'prometheus', ...flags],
  ])
  stack.defer(() => removeContainer(name))
  const ask = async <T>(path: string): Promise<T> => {
    const text = await fetchText(
      insideContainer(cluster.control),
      '127.0.0.1',
      port,
      `/api/v1/${path}`,
      patience,
    )
    const answer = JSON.parse(text ?? '{}') as { status?: string; data?: T; error?: string }
    if (answer.status !== 'success' || answer.data === undefined)
      throw new Error(`Prometheus refuses ${path}: ${answer.error ?? text ?? 'no answer'}`)
    return answer.data
  }
  await eventually('Prometheus answers', () => ask('status/runtimeinfo').catch(() => undefined))
  const owned = stack.move()
  return {
    query: async (expression) => (await ask<Answer>(`query?query=${encodeURIComponent(expression)}`)).result,
    queryRange: async (expression, seconds) => {
      const end = Date.now() / 1000
      const stretch = `start=${end - seconds}&end=${end}&step=${scrapeSeconds}`
      return (await ask<Answer>(`query_range?query=${encodeURIComponent(expression)}&${stretch}`)).result
    },
    targets: async () =>
      (await ask<{ activeTargets: readonly ScrapeTarget[] }>('targets?state=active')).activeTargets,
    readPage: ({ scrapeUrl }) => {
      const header = token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`]
      const curl = [
        'curl',
        '--silent',
        '--show-error',
        '--fail',
        '--globoff',
        '--insecure',
        '--max-time',
        '10',
      ]
      return runAt(insideContainer(cluster.control), [...curl, ...header, scrapeUrl])
    },
    findFaults: async (page) => {
      const exec = ['exec', '--interactive', name, 'promtool', 'check', 'metrics']
      const { exitCode, stderr } = await tryProgram('docker', exec, { input: page })
      if (exitCode !== 0 && exitCode !== faultsFound)
        throw new Error(`promtool can not read the page: ${stderr}`)
      return stderr.split('\n').filter((line) => line !== '')
    },
    firing: async () => {
      const { alerts } = await ask<{ alerts: readonly FiringAlert[] }>('alerts')
      return [
        ...new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)),
      ]
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface Answer {
  readonly result: readonly Series[]
}

interface FiringAlert {
  readonly state: string
  readonly labels: { readonly alertname: string }
}

/** Makes an account that may read metrics, as the documentation of users says, and answers its token. */
async function makeReader(cluster: Cluster, stack: AsyncDisposableStack): Promise<string> {
  const metadata = { name: account, namespace: chartNamespace }
  const reader: ApiObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata }
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: readers },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  } as ApiObject
  for (const object of [reader, binding]) await cluster.api.apply(object)
  stack.defer(async () => deleteAll(cluster.api, [binding, reader]))
  const token = ['create', 'token', account, '-n', chartNamespace, '--duration=24h']
  return (await kubectl(cluster, ...token)).trim()
}

function configuration(cluster: Cluster, isSecure: boolean): object {
  const how = isSecure
    ? {
        scheme: 'https',
        tls_config: { insecure_skip_verify: true },
        authorization: { credentials_file: `${inContainer}/token` },
      }
    : {}
  const found = (role: string): object => ({
    kubernetes_sd_configs: [
      { role, kubeconfig_file: `${inContainer}/kubeconfig`, namespaces: { names: [chartNamespace] } },
    ],
  })
  const keep = (label: string, regex: string): object => ({
    source_labels: [`__meta_kubernetes_${label}`],
    regex,
    action: 'keep',
  })
  const jobOf = (label: string): object => ({
    source_labels: [`__meta_kubernetes_${label}`],
    target_label: 'job',
  })
  const family = cluster.topology.stack === 'ipv6' ? 'IPv6' : 'IPv4'
  return {
    global: {
      scrape_interval: `${scrapeSeconds}s`,
      scrape_timeout: `${scrapeSeconds}s`,
      evaluation_interval: '1s',
    },
    rule_files: [`${inContainer}/alerts.yaml`],
    scrape_configs: [
      {
        ...{ job_name: 'services', ...how, ...found('endpointslice') },
        relabel_configs: [
          keep('endpointslice_port_name', 'metrics'),
          keep('endpointslice_address_type', family),
          keep('service_name', 'kube-ovn-.*'),
          jobOf('service_name'),
        ],
      },
      {
        ...{ job_name: 'pods', ...how, ...found('pod') },
        relabel_configs: [
          keep('pod_label_app', 'kube-ovn-speaker'),
          keep('pod_container_port_name', 'metrics'),
          jobOf('pod_label_app'),
        ],
      },
    ],
  }
}

function acceleratedGroup({ name, rules }: AlertGroup): AlertGroup {
  return {
    name,
    rules: rules.map((rule) => ({ ...rule, expr: accelerated(rule.expr), for: accelerated(rule.for) })),
  }
}
