import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KubeClient, loadKubeconfig, type Resource } from '@kube-ovn/kube'
import { ApiProxy } from './api-proxy.ts'
import type { Accounts } from './accounts.ts'
import type { ApiWrite, AuditLog } from './audit-log.ts'
import type { Baseline } from './baseline.ts'
import type { Container } from './container.ts'
import { applyDefinitions, readDefinitions } from './crds.ts'
import type { Etcd } from './etcd.ts'
import { tokenKubeconfig } from './kubeconfig.ts'
import { untilReady } from './readiness.ts'
import { storagePrefix } from './storage-prefix.ts'
import { TcpProxy } from './tcp-proxy.ts'

export interface KubeApiOptions {
  /** Default `10.96.0.0/12,fd00:10:96::/112`. */
  readonly serviceClusterIpRange?: string
  /** Address in the endpoints of Service `default/kubernetes`. Default: the container's own. */
  readonly advertiseAddress?: string
  /** Also runs kube-controller-manager: namespaces, workloads, endpoints, garbage collection. */
  readonly controllerManager?: boolean
  readonly apiServerFlags?: readonly string[]
  /** Definitions to serve: YAML files, or directories of such. */
  readonly crds?: readonly string[]
  /** Values of our chart: makes the ServiceAccounts that it has with them, with exactly the rights that it gives them, and its policies. */
  readonly accounts?: object
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

/** Of whoever is not the product. */
export const USER_AGENT = 'kube-ovn-test'

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

  /**
   * Yields the objects that there are of each resource: by `NAMESPACE/NAME`, or `NAME`, their `resourceVersion`.
   *
   * They come from etcd, all as of one moment: a list by the API server waits until its cache has caught up.
   *
   * @param resources of custom resources, of the core, `apps` and `batch`
   */
  async resourceVersions(resources: readonly Resource[]): Promise<readonly ReadonlyMap<string, string>[]> {
    const prefixes = resources.map(storagePrefix)
    const found = await this.#etcd.revisionsUnder(prefixes)
    return found.map((revisions, index) => {
      const { length } = prefixes[index] ?? ''
      return new Map([...revisions].map(([key, revision]) => [key.slice(length), revision]))
    })
  }

  /** Forgets the requests so far, without emptying the cluster. */
  forgetWrites(): Promise<void> {
    return this.#audit.clear()
  }

  /** Applies the definitions of these YAML files, or of the files in these directories, and waits until they serve. */
  async installCrds(...paths: readonly string[]): Promise<void> {
    await applyDefinitions(this.client, await readDefinitions(paths))
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

  /** The rights that no account has used since the start. */
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
    await untilReady(this.client, this.#container)
  }

  /** Takes a backup of etcd, for {@link restore}. */
  async save(): Promise<void> {
    await this.#container.ask('save')
    await untilReady(this.client, this.#container)
  }

  /** Puts etcd back to what it was at the last {@link save}, while the API server does not run, as a backup is restored. */
  async restore(): Promise<void> {
    await this.kill()
    await this.#container.ask('restore')
    await this.restart()
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

  /**
   * A client of a ServiceAccount `NAMESPACE/NAME`, through a proxy that answers, delays and drops what it is told to; both end
   * with this fixture.
   */
  async openFaultyClient(
    userAgent: string,
    account: string,
  ): Promise<{ readonly client: KubeClient; readonly proxy: ApiProxy }> {
    const access = await loadKubeconfig(await this.accountKubeconfig(account))
    const { ca, certificate, privateKey } = this.adminCertificate
    const read = (path: string): Promise<string> => readFile(path, 'utf8')
    const own = (file: string): Promise<string> => read(join(this.#directory, file))
    const proxy = this.#resources.use(
      await ApiProxy.open({
        host: this.address,
        port: 6443,
        ca: await read(ca),
        server: { cert: await own('apiserver.crt'), key: await own('apiserver.key') },
        frontProxy: { cert: await read(certificate), key: await read(privateKey) },
        listenHost: '127.0.0.1',
        listenPort: 0,
      }),
    )
    const server = `https://127.0.0.1:${proxy.port}`
    return { client: this.#resources.use(new KubeClient({ ...access, server }, { userAgent })), proxy }
  }

  /** A client whose writes are counted: of the administrator, or of a ServiceAccount, as {@link accountKubeconfig} has it. */
  async openClient(userAgent: string, account?: string, pod?: string): Promise<KubeClient> {
    const path = account === undefined ? this.kubeconfigPath : await this.accountKubeconfig(account, pod)
    return this.#resources.use(new KubeClient(await loadKubeconfig(path), { userAgent }))
  }

  /**
   * Writes a kubeconfig of a ServiceAccount `NAMESPACE/NAME` that is installed, and yields its path.
   *
   * @param pod of that namespace and account, to which the token is bound: it is good as long as the pod is there, and names its node
   */
  async accountKubeconfig(account: string, pod?: string): Promise<string> {
    const name = [account.replace('/', '-'), ...(pod === undefined ? [] : [pod])].join('-')
    const path = join(this.#directory, `${name}.kubeconfig`)
    const token = await this.#accounts.token(account, pod)
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

function isOurs(write: ApiWrite): boolean {
  return !NOT_OURS.test(write.user) && write.userAgent !== USER_AGENT
}
