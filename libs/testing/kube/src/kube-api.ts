import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  KubeClient,
  KubeConnectionError,
  KubeRequestError,
  loadKubeconfig,
  namespaces,
  services,
} from '@kube-ovn/kube'
import { Accounts } from './accounts.ts'
import { AuditLog, type ApiWrite } from './audit-log.ts'
import { Baseline } from './baseline.ts'
import { kubernetesDirectory } from './cache-directory.ts'
import { renderChart } from './chart.ts'
import { Container } from './container.ts'
import { applyCrds } from './crds.ts'
import { TEST_LABEL, buildImage, ensureNetwork } from './docker.ts'
import { FixtureError } from './errors.ts'
import { Etcd } from './etcd.ts'
import { AUDIT_POLICY, CONTAINER_DIRECTORY, apiServerFlags, controllerManagerFlags } from './flags.ts'
import { certificateKubeconfig, tokenKubeconfig } from './kubeconfig.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { TemporaryDirectory } from './temporary-directory.ts'

export interface KubeApiOptions {
  /** Default `10.96.0.0/12,fd00:10:96::/112`. */
  readonly serviceClusterIpRange?: string
  /** Address in the endpoints of Service `default/kubernetes`. Default: the container's own. */
  readonly advertiseAddress?: string
  /** Also runs kube-controller-manager: namespaces, workloads, endpoints, garbage collection. */
  readonly controllerManager?: boolean
  readonly apiServerFlags?: readonly string[]
  /** Docker network to be in, which must be internal. Default: one that all tests share, made when missing. */
  readonly network?: string
}

export interface CertificatePaths {
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}

/** Requests of these are not the product's. */
const NOT_OURS = /^system:(apiserver|kube-controller-manager)$/

const USER_AGENT = 'kube-ovn-test'

const NETWORK = 'kube-ovn-test'

const READY_MS = 60_000

/** The API server makes default, kube-system, kube-public and kube-node-lease. */
const SYSTEM_NAMESPACES = 4

/**
 * A real kube-apiserver with etcd, in a container that ends with the test process.
 *
 * It takes some seconds to start and a fraction of one to empty: one for a worker, {@link reset} between tests.
 */
export class KubeApi implements AsyncDisposable {
  readonly url: string
  /** Address of the container. */
  readonly address: string
  /** Kubeconfig of a cluster administrator. */
  readonly kubeconfigPath: string
  readonly adminCertificate: CertificatePaths
  /** A client of the administrator, with the user agent `kube-ovn-test`. */
  readonly client: KubeClient
  readonly #container: Container
  readonly #etcd: Etcd
  readonly #directory: string
  readonly #audit: AuditLog
  readonly #accounts: Accounts
  readonly #baseline: Baseline
  readonly #resources: AsyncDisposableStack

  /** Use {@link startKubeApi}. */
  constructor(parts: {
    readonly address: string
    readonly directory: string
    readonly client: KubeClient
    readonly container: Container
    readonly etcd: Etcd
    readonly audit: AuditLog
    readonly accounts: Accounts
    readonly baseline: Baseline
    readonly resources: AsyncDisposableStack
  }) {
    this.address = parts.address
    this.url = `https://${parts.address}:6443`
    this.client = parts.client
    this.kubeconfigPath = join(parts.directory, 'kubeconfig')
    this.adminCertificate = {
      ca: join(parts.directory, 'ca.crt'),
      certificate: join(parts.directory, 'admin.crt'),
      privateKey: join(parts.directory, 'admin.key'),
    }
    this.#directory = parts.directory
    this.#container = parts.container
    this.#etcd = parts.etcd
    this.#audit = parts.audit
    this.#accounts = parts.accounts
    this.#baseline = parts.baseline
    this.#resources = parts.resources
  }

  /** Empties the cluster: all is as after the start, but for what was installed. Watches see the deletions. */
  async reset(): Promise<void> {
    if (await this.#baseline.restore()) await this.#accounts.untilEffective()
    await this.#audit.clear()
    this.#accounts.forget()
  }

  /**
   * Yields the requests since the start or the last {@link reset} that were to change something.
   *
   * Those of the API server, of the controller manager and of {@link client} are not in it, unless `filter` is given.
   */
  async writes(filter: (write: ApiWrite) => boolean = isOurs): Promise<readonly ApiWrite[]> {
    return (await this.#audit.settled()).filter(filter)
  }

  /** Forgets the requests so far, without emptying the cluster. */
  forgetWrites(): Promise<void> {
    return this.#audit.clear()
  }

  /** Applies the definitions of these YAML files, or of the files in these directories, and waits until they serve. */
  async installCrds(...paths: readonly string[]): Promise<void> {
    await applyCrds(this.client, paths)
    await this.#baseline.keepInstalled()
  }

  /**
   * Creates the ServiceAccounts of our chart with exactly the rights that it gives them.
   *
   * @param values of the chart
   */
  async installAccounts(values: object = {}): Promise<void> {
    await this.#accounts.install(await renderChart(values))
    await this.#baseline.keepInstalled()
  }

  /** The rights that accounts lacked since the last {@link reset}, e.g. `kube-system/ovn may list pods`. */
  async missingRights(): Promise<readonly string[]> {
    await this.#audit.settled()
    return this.#accounts.missing
  }

  /** Waits until the API server knows that an account lacks a right that a test took from it. */
  untilMissing(account: string, verb: string, resource: string): Promise<void> {
    return this.#accounts.untilMissing(account, verb, resource)
  }

  /** The rights that no account has used since {@link installAccounts}. */
  async unusedRights(): Promise<readonly string[]> {
    await this.#audit.settled()
    return this.#accounts.unused
  }

  /** Ends the API server as a crash would. etcd goes on. */
  async kill(): Promise<void> {
    await this.#container.ask('kill')
    await this.#audit.abandon()
  }

  /** Starts the API server again after {@link kill}. */
  async restart(): Promise<void> {
    await this.#container.ask('start')
    await waitUntilReady(this.client, this.#container)
  }

  /** Forgets all history, so that watches and pages from before get 410 Gone once the API server was restarted. */
  compact(): Promise<void> {
    return this.#etcd.compact()
  }

  /** Opens a client whose connections pass a proxy that can cut them; both end with this fixture. */
  async openProxiedClient(): Promise<{ readonly client: KubeClient; readonly proxy: TcpProxy }> {
    const proxy = this.#resources.use(await TcpProxy.open(this.address, 6443))
    const access = await loadKubeconfig(this.kubeconfigPath)
    const server = `https://127.0.0.1:${proxy.port}`
    const client = this.#resources.use(new KubeClient({ ...access, server }, { userAgent: USER_AGENT }))
    return { client, proxy }
  }

  /** A client whose writes are counted: of the administrator, or of a ServiceAccount `NAMESPACE/NAME`. */
  async openClient(userAgent: string, account?: string): Promise<KubeClient> {
    const path = account === undefined ? this.kubeconfigPath : await this.accountKubeconfig(account)
    return this.#resources.use(new KubeClient(await loadKubeconfig(path), { userAgent }))
  }

  /** Writes a kubeconfig of a ServiceAccount `NAMESPACE/NAME` that is installed, and yields its path. */
  async accountKubeconfig(account: string): Promise<string> {
    const path = join(this.#directory, `${account.replace('/', '-')}.kubeconfig`)
    const token = await this.#accounts.token(account)
    await writeFile(path, await tokenKubeconfig(this.#directory, this.url, token), { mode: 0o600 })
    return path
  }

  /** The log of `apiserver`, `etcd` or `controller-manager`. */
  log(of: 'apiserver' | 'etcd' | 'controller-manager'): Promise<string> {
    return readFile(join(this.#directory, `${of}.log`), 'utf8')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync()
  }
}

/** Starts an API server. Needs root, a Docker engine and the Kubernetes commands in the cache directory. */
export async function startKubeApi(options: KubeApiOptions = {}): Promise<KubeApi> {
  await using resources = new AsyncDisposableStack()
  const binaries = kubernetesDirectory()
  const network = options.network ?? NETWORK
  const [image] = await Promise.all([
    buildImage(),
    options.network === undefined ? ensureNetwork(network) : undefined,
  ])
  const directory = resources.use(await TemporaryDirectory.make()).path
  await writeSettings(directory, options)

  const container = resources.use(
    new Container(
      [
        ...['--name', `kube-ovn-test-kube-${randomBytes(4).toString('hex')}`, '--label', TEST_LABEL],
        ...['--network', network, '--tmpfs', '/var/lib/etcd-test', '--env', 'GOMAXPROCS=2'],
        ...(options.advertiseAddress === undefined
          ? []
          : ['--env', `ADVERTISE_ADDRESS=${options.advertiseAddress}`]),
        ...['--volume', `${directory}:${CONTAINER_DIRECTORY}`, '--volume', `${binaries}:/opt/kubernetes:ro`],
        image,
      ],
      directory,
    ),
  )
  const address = await container.ask('')
  const url = `https://${address}:6443`
  await writeFile(join(directory, 'kubeconfig'), await certificateKubeconfig(directory, url, 'admin'), {
    mode: 0o600,
  })
  const access = await loadKubeconfig(join(directory, 'kubeconfig'))
  const client = resources.use(new KubeClient(access, { userAgent: USER_AGENT }))
  await waitUntilReady(client, container)

  const etcd = resources.use(new Etcd(address))
  const accounts = new Accounts(client)
  const audit = resources.use(
    await AuditLog.open(join(directory, 'audit.log'), (request) => accounts.take(request)),
  )
  const baseline = await Baseline.take(etcd)
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

const shared = new Map<string, Promise<KubeApi>>()

/**
 * Yields the API server with these options that this process has, empty, and starts it the first time.
 *
 * It is not to be disposed: it ends with the process. Suites that run one after the other share it.
 */
export async function sharedKubeApi(options: KubeApiOptions = {}): Promise<KubeApi> {
  const key = JSON.stringify(Object.entries(options).toSorted(([a], [b]) => a.localeCompare(b)))
  const known = shared.get(key)
  if (known !== undefined) {
    const api = await known
    await api.reset()
    return api
  }
  const started = startKubeApi(options)
  shared.set(key, started)
  return started
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

/** Ready is a server that says so and has made what each cluster has. There is no event to wait for. */
async function waitUntilReady(client: KubeClient, container: Container): Promise<void> {
  const deadlineMs = performance.now() + READY_MS
  let last: unknown
  while (performance.now() < deadlineMs) {
    try {
      await client.read('/readyz')
      const [{ items }, kubernetes] = await Promise.all([
        client.list(namespaces),
        client.get(services, { namespace: 'default', name: 'kubernetes' }),
      ])
      if (items.length >= SYSTEM_NAMESPACES && kubernetes !== undefined) return
    } catch (error) {
      if (!(error instanceof KubeConnectionError) && !(error instanceof KubeRequestError)) throw error
      last = error
    }
    await delay(50)
  }
  throw new FixtureError(
    'API server did not become ready',
    { what: 'kube-apiserver', output: await container.logs(), cure: 'read the output' },
    { cause: last },
  )
}

function isOurs(write: ApiWrite): boolean {
  return !NOT_OURS.test(write.user) && write.userAgent !== USER_AGENT
}
