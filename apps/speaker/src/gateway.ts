import { iptablesEipLabel } from '@kube-ovn/annotations'
import { gatewayPrefixes, type Announced } from '@kube-ovn/features-speaker'
import { Informer, type KubeClient } from '@kube-ovn/kube'
import { iptablesEipResource, type IptablesEip } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { Source } from './source.ts'

export interface GatewayOptions {
  readonly client: KubeClient
  readonly log: Logger
  /** Name of the VpcNatGateway. */
  readonly gatewayName: string
  readonly changed: () => void
}

/** Follows the addresses of a NAT gateway, and nothing else: it speaks for no node. */
export class Gateway implements Source {
  readonly #stack = new AsyncDisposableStack()
  readonly #eips: Informer<IptablesEip>

  constructor({ client, log: logger, gatewayName, changed }: GatewayOptions) {
    this.#eips = this.#stack.use(
      new Informer({
        ...{ client, logger, clock: systemClock, resource: iptablesEipResource },
        labelSelector: `${iptablesEipLabel.gateway}=${gatewayName}`,
      }),
    )
    this.#stack.use(this.#eips.onChange(changed))
  }

  start(signal: AbortSignal): void {
    this.#eips.start(signal)
    this.#eips.synced.catch(() => undefined)
  }

  async synced(): Promise<void> {
    await this.#eips.synced
  }

  get isSynced(): boolean {
    return this.#eips.health.isSynced
  }

  announced(): Announced {
    return gatewayPrefixes(this.#eips.store.values())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}
