import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nextPhase, openClient } from './client-fixture.ts'
import type { OvsdbClient } from './client.ts'
import * as errors from './errors.ts'

let northbound: Northbound
let client: OvsdbClient<OvnNorthbound>

beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())

beforeEach(async () => {
  await northbound.reset()
  client = openClient(northbound)
  await client.connect()
})
afterEach(() => client[Symbol.asyncDispose]())

describe('a lock', () => {
  it('goes to one client, then to the next', async () => {
    const mine = client.lock('leader')
    if (!mine.isOwned) await new Promise((resolve) => mine.onChange(resolve))
    await using second = openClient(northbound)
    const theirs = second.lock('leader')
    await second.connect()
    const { assertLock, comment } = second.operations
    await expect(second.transact([assertLock('leader')])).rejects.toBeInstanceOf(errors.NotOwnerError)
    expect(theirs.isOwned).toBe(false)
    const handedOver = new Promise((resolve) => theirs.onChange(resolve))
    await mine[Symbol.asyncDispose]()
    expect(await handedOver).toBe(true)
    await second.transact([assertLock('leader'), comment('elected')])
    await expect(client.transact([assertLock('leader')])).rejects.toMatchObject({
      details: { operation: 0, op: 'assert' },
    })
  })

  it('has an identifier for a name', () => {
    expect(() => client.lock('two-words')).toThrow(errors.InvalidIdentifierError)
  })

  it('is taken at once by a client to which it belongs, and its former owner can write no more', async () => {
    await using former = openClient(northbound)
    const lost = former.lock('stolen')
    await former.connect()
    if (!lost.isOwned) await new Promise((resolve) => lost.onChange(resolve))
    const told = new Promise((resolve) => lost.onChange(resolve))
    const taken = client.lock('stolen', { steal: true })
    if (!taken.isOwned) await new Promise((resolve) => taken.onChange(resolve))
    expect(await told).toBe(false)
    const { assertLock, comment } = client.operations
    await client.transact([assertLock('stolen'), comment('elected')])
    await expect(former.transact([assertLock('stolen')])).rejects.toBeInstanceOf(errors.NotOwnerError)
  })

  it('is lost with the connection and asked for again', async () => {
    const lock = client.lock('leader')
    if (!lock.isOwned) await new Promise((resolve) => lock.onChange(resolve))
    const history: boolean[] = []
    const back = new Promise<void>((resolve) => {
      lock.onChange((isOwned) => {
        history.push(isOwned)
        if (isOwned) resolve()
      })
    })
    await northbound.kill()
    await northbound.start()
    await back
    expect(history).toEqual([false, true])
  })
})

describe("a lock that is a client's by right", () => {
  /** A client whose connection breaks without either side being told. */
  async function openSwallowed(steal: boolean | (() => boolean)) {
    const proxy = await startProxy(northbound.address)
    const half = openClient(proxy, { inactivityProbeMs: 200 })
    const lock = half.lock('half_open', { steal })
    await half.connect()
    const { assertLock, comment } = half.operations
    const commit = () => half.transact([assertLock('half_open'), comment('by right')])
    await commit()
    const lost = nextPhase(half, 'waiting')
    proxy.swallow()
    await lost
    return {
      ...{ half, lock, commit },
      async [Symbol.asyncDispose]() {
        await half[Symbol.asyncDispose]()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }

  it('is its own again at once after a connection that broke without a word', async () => {
    await using broken = await openSwallowed(() => true)
    await broken.half.connect()
    await broken.commit()
    expect(broken.lock.isOwned).toBe(true)
  })

  it('stays with the dead connection while it is not known to be', async () => {
    await using broken = await openSwallowed(true)
    await broken.half.connect()
    await expect(broken.commit()).rejects.toBeInstanceOf(errors.NotOwnerError)
  })

  it('is left to another when the right has ended', async () => {
    let isOurs = true
    await using broken = await openSwallowed(() => isOurs)
    isOurs = false
    const taken = client.lock('half_open', { steal: true })
    if (!taken.isOwned) await new Promise((resolve) => taken.onChange(resolve))
    await broken.half.connect()
    await expect(broken.commit()).rejects.toBeInstanceOf(errors.NotOwnerError)
    await client.transact([client.operations.assertLock('half_open')])
  })

  it('is given back when the right ended while it was taken', async () => {
    // Asked before the request, which then takes too long, and again when it was answered.
    const answers = [true]
    await using late = openClient(northbound)
    const lock = late.lock('half_open', { steal: () => answers.pop() ?? false })
    await late.connect()
    expect(answers).toEqual([])
    expect(lock.isOwned).toBe(false)
    await expect(late.transact([late.operations.assertLock('half_open')])).rejects.toBeInstanceOf(
      errors.NotOwnerError,
    )
    // Nobody has it.
    const { promise: taken, resolve } = Promise.withResolvers<boolean>()
    const next = client.lock('half_open')
    next.onChange(resolve)
    expect(next.isOwned || (await taken)).toBe(true)
  })

  it('is taken back when another took it without a right', async () => {
    await using thief = openClient(northbound)
    await thief.connect()
    const lock = client.lock('half_open', { steal: () => true })
    if (!lock.isOwned) await new Promise((resolve) => lock.onChange(resolve))
    const stolen = new Promise((resolve) => lock.onChange(resolve))
    thief.lock('half_open', { steal: true })
    expect(await stolen).toBe(false)
    const { assertLock, comment } = client.operations
    const commit = () => client.transact([assertLock('half_open'), comment('by right')])
    const left = nextPhase(client, 'waiting')
    await expect(commit()).rejects.toBeInstanceOf(errors.NotOwnerError)
    await left
    await client.connect()
    await commit()
  })
})
