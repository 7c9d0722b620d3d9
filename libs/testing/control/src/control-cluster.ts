import { pods } from '@kube-ovn/kube-api/core'
import type { KubeClient } from '@kube-ovn/kube'
import { recordingLogger, type RecordingLogger } from '@kube-ovn/log'
import type { NorthboundTable } from '@kube-ovn/ovn-names'
import { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { readObjects } from '@kube-ovn/testing-bundle/objects'
import { type ApiProxy, type KubeApi, sharedKubeApi } from '@kube-ovn/testing-kube'
import { type Northbound, type NorthboundOptions, startNorthbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { Controller, type ControllerOptions, type Surroundings } from './controller.ts'
import { plainValue } from './plain-value.ts'
import { rowName } from './unexplained.ts'
import { User } from './user.ts'

const component = 'kube-ovn-controller'

/** The controller's, in the chart. */
const account = 'kube-system/ovn'

/** What somebody outside counted. */
export interface Costs {
  readonly transactions: number
  /** `verb resource`, sorted. */
  readonly writes: readonly string[]
}

interface Parts {
  readonly api: KubeApi
  readonly northbound: Northbound
  readonly user: User
  readonly controllerClient: KubeClient
}

/**
 * A Kubernetes API and a Northbound, on which a controller is started and ended.
 *
 *     const cluster = ControlCluster.ofSuite()
 *     beforeEach(() => cluster.user.createNodes('n1'))
 */
export class ControlCluster {
  readonly #resources = new AsyncDisposableStack()
  readonly #options: NorthboundOptions
  readonly #logs: RecordingLogger[] = []
  readonly #controllers = new Set<Controller>()
  readonly #origins = { inserted: new Set<string>(), declared: new Set<string>() }
  #parts: Parts | undefined
  #transactionsBefore = 0

  private constructor(options: NorthboundOptions) {
    this.#options = options
  }

  /**
   * For the file or `describe` that calls this: it is started before the tests, empty before each, and ended after them.
   *
   * Nothing of it is there outside hooks and tests. Hooks that come after this call find it empty. A controller that a test
   * left behind, since it failed, is ended: its client would connect again, to whichever database has the address next.
   */
  static ofSuite(options: Pick<NorthboundOptions, 'southbound' | 'northd'> = {}): ControlCluster {
    const cluster = new ControlCluster(options)
    beforeAll(() => cluster.#start())
    beforeEach(() => cluster.#reset())
    afterEach(() => cluster.#endControllers())
    afterAll(() => cluster.#resources.disposeAsync())
    return cluster
  }

  get api(): KubeApi {
    return this.#started.api
  }

  get northbound(): Northbound {
    return this.#started.northbound
  }

  get user(): User {
    return this.#started.user
  }

  /** The client of users, kubelets and whoever else is not the controller. */
  get client(): KubeClient {
    return this.api.client
  }

  /** A client of the controller through a proxy that plays a broken API server. */
  openFaultyClient(): Promise<{ readonly client: KubeClient; readonly proxy: ApiProxy }> {
    return this.api.openFaultyClient(component, account)
  }

  async startController(options: ControllerOptions = {}): Promise<Controller> {
    const { address: northboundAddress, southbound } = this.northbound
    const logger = recordingLogger()
    this.#logs.push(logger)
    const surroundings: Surroundings = {
      southboundAddress: options.southboundAddress ?? southbound?.address,
      ...{ northboundAddress, client: options.client ?? this.#started.controllerClient, logger },
      resourceVersions: (resources) => this.api.resourceVersions(resources),
      missingRights: () => this.api.missingRights(),
      origins: this.#origins,
    }
    const controller = await Controller.start(surroundings, options)
    this.#controllers.add(controller)
    return controller
  }

  /**
   * Says that a row of this name, or identifier, is there on purpose although it has a mark of ours and is of no object, until the test has
   * ended. What has no mark of ours is of others anyway.
   */
  declareForeign(table: NorthboundTable, name: string): void {
    this.#origins.declared.add(rowName(table, name))
  }

  /** Starts a controller, lets it do what there is to do, and counts from then on. */
  async startSettled(options: ControllerOptions = {}): Promise<Controller> {
    const control = await this.startController(options)
    await control.settle()
    await this.forgetCosts()
    return control
  }

  /** What was written since the last {@link forgetCosts}, by anybody in the Northbound, by the controller in the API. */
  async costs(): Promise<Costs> {
    const [transactions, writes] = await Promise.all([this.northbound.transactions(), this.api.writes()])
    return {
      transactions: transactions - this.#transactionsBefore,
      writes: writes.map(({ verb, resource }) => `${verb} ${resource}`).sort(),
    }
  }

  async forgetCosts(): Promise<void> {
    const [transactions] = await Promise.all([this.northbound.transactions(), this.api.forgetWrites()])
    this.#transactionsBefore = transactions
  }

  /** Removes a pod as its kubelet does in the end. */
  async removePod(name: string, namespace = 'default'): Promise<void> {
    await this.client.remove(pods, { namespace, name }, { gracePeriodSeconds: 0 })
  }

  async #start(): Promise<void> {
    const [api, northbound] = await Promise.all([sharedKubeApi(), startNorthbound(this.#options)])
    this.#resources.use(northbound)
    const controllerClient = this.#resources.use(await api.openClient(component, account))
    this.#parts = { api, northbound, user: new User(api.client), controllerClient }
  }

  async #endControllers(): Promise<void> {
    const left = [...this.#controllers]
    this.#controllers.clear()
    await Promise.all(left.map((controller) => controller[Symbol.asyncDispose]()))
  }

  /** Empties both; the test that follows leaves a bundle if it fails. No controller may be at work. */
  async #reset(): Promise<void> {
    this.#logs.length = 0
    for (const rows of Object.values(this.#origins)) rows.clear()
    leaveBundleOnFailure({
      kubernetes: () => readObjects((path) => this.client.read(path)),
      northbound: () => this.northbound.evidence(),
      logs: () => this.#evidence(),
    })
    const northbound = this.northbound.reset().then(() => this.northbound.transactions())
    const [transactions] = await Promise.all([northbound, this.api.reset()])
    this.#transactionsBefore = transactions
  }

  get #started(): Parts {
    if (this.#parts === undefined) throw new TypeError('a cluster is there in hooks and tests only')
    return this.#parts
  }

  async #evidence(): Promise<Readonly<Record<string, string>>> {
    const controllers = this.#logs.map(({ lines }, index): [string, string] => [
      `controller-${index + 1}.log`,
      lines.map((line) => `${JSON.stringify(line, plainValue)}\n`).join(''),
    ])
    return { ...Object.fromEntries(controllers), 'apiserver.log': await this.api.log('apiserver') }
  }
}
