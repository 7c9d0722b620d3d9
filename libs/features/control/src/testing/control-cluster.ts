import { pods } from '@kube-ovn/kube-api/core'
import type { KubeClient } from '@kube-ovn/kube'
import { recordingLogger, type RecordingLogger } from '@kube-ovn/log'
import { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { readObjects } from '@kube-ovn/testing-bundle/objects'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import { Controller, type ControllerOptions, type Surroundings } from './controller.ts'
import { plainValue } from './plain-value.ts'
import { User } from './user.ts'

/** The controller's, in the chart. */
const account = 'kube-system/ovn'

/** What somebody outside counted. */
export interface Costs {
  readonly transactions: number
  /** `verb resource`, sorted. */
  readonly writes: readonly string[]
}

/** A Kubernetes API and a Northbound, on which a controller is started and ended. */
export class ControlCluster implements AsyncDisposable {
  readonly api: KubeApi
  readonly northbound: Northbound
  readonly user: User
  readonly #controllerClient: KubeClient
  readonly #logs: RecordingLogger[] = []
  #transactionsBefore = 0

  private constructor(api: KubeApi, northbound: Northbound, controllerClient: KubeClient) {
    this.api = api
    this.northbound = northbound
    this.user = new User(api.client)
    this.#controllerClient = controllerClient
  }

  static async start(): Promise<ControlCluster> {
    const [api, northbound] = await Promise.all([sharedKubeApi(), startNorthbound()])
    return new ControlCluster(api, northbound, await api.openClient('kube-ovn-controller', account))
  }

  /** The client of users, kubelets and whoever else is not the controller. */
  get client(): KubeClient {
    return this.api.client
  }

  /** Empties both, to be called in `beforeEach`: a test that fails leaves a bundle. No controller may be at work. */
  async reset(): Promise<void> {
    this.#logs.length = 0
    leaveBundleOnFailure({
      kubernetes: () => readObjects((path) => this.client.read(path)),
      northbound: () => this.northbound.evidence(),
      logs: () => this.#evidence(),
    })
    const northbound = this.northbound.reset().then(() => this.northbound.transactions())
    const [transactions] = await Promise.all([northbound, this.api.reset()])
    this.#transactionsBefore = transactions
  }

  async startController(options: ControllerOptions = {}): Promise<Controller> {
    const { address: northboundAddress } = this.northbound
    const logger = recordingLogger()
    this.#logs.push(logger)
    const surroundings: Surroundings = {
      ...{ northboundAddress, client: this.#controllerClient, logger },
      resourceVersions: (resources) => this.api.resourceVersions(resources),
      missingRights: () => this.api.missingRights(),
    }
    return Controller.start(surroundings, options)
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

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#controllerClient[Symbol.asyncDispose](), this.northbound[Symbol.asyncDispose]()])
  }

  async #evidence(): Promise<Readonly<Record<string, string>>> {
    const controllers = this.#logs.map(({ lines }, index): [string, string] => [
      `controller-${index + 1}.log`,
      lines.map((line) => `${JSON.stringify(line, plainValue)}\n`).join(''),
    ])
    return { ...Object.fromEntries(controllers), 'apiserver.log': await this.api.log('apiserver') }
  }
}
