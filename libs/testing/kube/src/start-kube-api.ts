import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { KubeClient, loadKubeconfig } from '@kube-ovn/kube'
import { ensureTestImage, ensureTestNetwork, testLabel, testNetwork } from '@kube-ovn/testing-docker'
import { Accounts } from './accounts.ts'
import { AuditLog } from './audit-log.ts'
import { Baseline } from './baseline.ts'
import { kubernetesDirectory } from './cache-directory.ts'
import { renderChart } from './chart.ts'
import { Container } from './container.ts'
import { applyDefinitions, chartCrds, foreignCrds, readDefinitions } from './crds.ts'
import { Etcd } from './etcd.ts'
import { AUDIT_POLICY, CONTAINER_DIRECTORIES, apiServerFlags, controllerManagerFlags } from './flags.ts'
import { KubeApi, USER_AGENT, type KubeApiOptions } from './kube-api.ts'
import { certificateKubeconfig } from './kubeconfig.ts'
import { untilReady, untilServing } from './readiness.ts'
import { DIRECTORIES, TemporaryDirectory } from './temporary-directory.ts'

/** Starts an API server. Needs root, a Docker engine and the Kubernetes commands in the cache directory. */
export async function startKubeApi(options: KubeApiOptions = {}): Promise<KubeApi> {
  await using resources = new AsyncDisposableStack()
  const directory = resources.use(await TemporaryDirectory.make()).path
  // Found out while the server starts.
  const installed = Promise.all([
    readDefinitions(options.crds ?? []),
    options.accounts === undefined ? [] : renderChart(options.accounts),
  ])
  // Whoever awaits it below is told.
  installed.catch(() => undefined)
  const container = resources.use(await startContainer(directory, options))
  const address = await container.ask('')
  const url = `https://${address}:6443`
  const kubeconfig = join(directory, 'kubeconfig')
  await writeFile(kubeconfig, await certificateKubeconfig(directory, url, 'admin'), { mode: 0o600 })
  const access = await loadKubeconfig(kubeconfig)
  const client = resources.use(new KubeClient(access, { userAgent: USER_AGENT }))
  const accounts = new Accounts(client)
  const [definitions, chart] = await installed
  await untilServing(client, container)
  await Promise.all([
    untilReady(client, container),
    applyDefinitions(client, definitions),
    accounts.install(chart),
  ])

  const etcd = resources.use(new Etcd(address))
  const [audit, baseline] = await Promise.all([
    AuditLog.open(join(directory, 'audit.log'), (request) => accounts.take(request)),
    Baseline.take(etcd),
  ])
  resources.use(audit)
  return new KubeApi({
    address,
    directory,
    client,
    container,
    etcd,
    audit,
    accounts,
    baseline,
    resources: resources.move(),
  })
}

let shared: Promise<KubeApi> | undefined

/**
 * Yields the API server that this process has, empty, and starts it the first time: with the definitions and accounts of
 * our chart, and the definitions of other projects.
 *
 * It is not to be disposed: it ends with the process. Suites that run one after the other share it.
 */
export async function sharedKubeApi(): Promise<KubeApi> {
  if (shared !== undefined) {
    const api = await shared
    await api.reset()
    return api
  }
  shared = startKubeApi({
    crds: [chartCrds, foreignCrds],
    accounts: { features: { enableLoadbalancerService: true } },
  })
  return shared
}

async function startContainer(directory: string, options: KubeApiOptions): Promise<Container> {
  const binaries = kubernetesDirectory()
  const network = options.network ?? testNetwork
  const [image] = await Promise.all([
    ensureTestImage('kube', { directory: join(import.meta.dirname, '../image') }),
    options.network === undefined ? ensureTestNetwork() : undefined,
    writeSettings(directory, options),
  ])
  return new Container(
    [
      ...['--name', `kube-ovn-test-kube-${randomBytes(4).toString('hex')}`, '--label', testLabel],
      ...['--network', network, '--tmpfs', '/var/lib/etcd-test', '--env', 'GOMAXPROCS=2'],
      ...['--env', `DIRECTORY=${join(CONTAINER_DIRECTORIES, basename(directory))}`],
      ...(options.advertiseAddress === undefined
        ? []
        : ['--env', `ADVERTISE_ADDRESS=${options.advertiseAddress}`]),
      ...[
        '--volume',
        `${DIRECTORIES}:${CONTAINER_DIRECTORIES}`,
        '--volume',
        `${binaries}:/opt/kubernetes:ro`,
      ],
      image,
    ],
    directory,
  )
}

async function writeSettings(directory: string, options: KubeApiOptions): Promise<void> {
  const files = {
    'apiserver.flags': apiServerFlags(options),
    'controller-manager.flags': controllerManagerFlags(options),
    'audit-policy.json': [JSON.stringify(AUDIT_POLICY)],
  }
  for (const [name, lines] of Object.entries(files)) {
    await writeFile(join(directory, name), lines.map((line) => `${line}\n`).join(''))
  }
}
