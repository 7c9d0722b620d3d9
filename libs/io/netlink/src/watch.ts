import { closeSync } from 'node:fs'
import koffi, { type node } from 'koffi'
import { addressType, parseAddress } from './address-message.ts'
import { linkType, parseLink } from './link-message.ts'
import { parseDatagram, type Message } from './message.ts'
import { neighbourType, parseNeighbour } from './neighbour-message.ts'
import { parseRoute, routeMessageType } from './route-message.ts'
import { parseRule, ruleMessageType } from './rule-message.ts'
import { takeEvent } from './socket.ts'
import type { NetlinkEvent, WatchSelection } from './types.ts'

/** RTNLGRP_* of linux/rtnetlink.h, as bits of the mask that bind(2) takes. */
const groups = {
  links: [1],
  neighbours: [3],
  addresses: [5, 9],
  routes: [7, 11],
  rules: [8, 19],
} as const satisfies Record<keyof WatchSelection, readonly number[]>

export function groupMask(selection: WatchSelection): number {
  return (Object.keys(groups) as (keyof WatchSelection)[])
    .filter((name) => selection[name] === true)
    .flatMap((name) => groups[name])
    .reduce<number>((mask, group) => mask | (1 << (group - 1)), 0)
}

/**
 * Reads an event socket whenever the event loop finds it readable, until disposed; owns the descriptor.
 *
 * The descriptor is one more entry of the loop's own epoll set: no thread waits for it.
 */
export class EventReader implements Disposable {
  readonly #descriptor: number
  readonly #listener: (event: NetlinkEvent) => void
  readonly #poll: node.PollHandle
  #isOpen = true
  #isScheduled = false

  constructor(descriptor: number, listener: (event: NetlinkEvent) => void, keepsAlive: boolean) {
    this.#descriptor = descriptor
    this.#listener = listener
    this.#poll = koffi.node.poll(descriptor, { readable: true }, () => this.#schedule())
    if (!keepsAlive) this.#poll.unref()
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#poll.close()
    closeSync(this.#descriptor)
  }

  /**
   * Leaves the poll callback before anything is called: it runs outside of Node's callback scope, where promises are not
   * continued and exceptions go nowhere. Immediates run in the same turn of the loop.
   */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#drain()
    })
  }

  /** Reads one datagram; the poll is level-triggered, so more of them bring us back, and others get their turn. */
  #drain(): void {
    if (!this.#isOpen) return
    const arrival = takeEvent(this.#descriptor)
    if (arrival.kind === 'nothing') return
    if (arrival.kind === 'overrun') {
      this.#listener({ kind: 'resync' })
      return
    }
    for (const message of parseDatagram(arrival.bytes).messages) {
      const event = toEvent(message)
      // The listener may have disposed of us.
      if (event !== undefined && this.#isOpen) this.#listener(event)
    }
  }
}

/** Turns a multicast message into an event; `undefined` for what is not watched. */
export function toEvent({ type, body }: Message): NetlinkEvent | undefined {
  switch (type) {
    case linkType.created:
    case linkType.removed:
      // A bridge reports its ports under its own family; the link itself is reported under AF_UNSPEC.
      if (body.readUInt8(0) !== 0) return undefined
      return { kind: 'link', change: type === linkType.created ? 'set' : 'removed', link: parseLink(body) }
    case addressType.created:
    case addressType.removed: {
      const address = parseAddress(body)
      if (address === undefined) return undefined
      return { kind: 'address', change: type === addressType.created ? 'set' : 'removed', address }
    }
    case routeMessageType.created:
    case routeMessageType.removed: {
      const route = parseRoute(body)
      if (route === undefined) return undefined
      return { kind: 'route', change: type === routeMessageType.created ? 'set' : 'removed', route }
    }
    case ruleMessageType.created:
    case ruleMessageType.removed: {
      const rule = parseRule(body)
      if (rule === undefined) return undefined
      return { kind: 'rule', change: type === ruleMessageType.created ? 'set' : 'removed', rule }
    }
    case neighbourType.created:
    case neighbourType.removed: {
      const neighbour = parseNeighbour(body)
      if (neighbour === undefined) return undefined
      return { kind: 'neighbour', change: type === neighbourType.created ? 'set' : 'removed', neighbour }
    }
    default:
      return undefined
  }
}
