import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'

/** Run by run-fixture.it.test.ts: a test that never ends. Over a connection it tells who runs it, and by that whether it lives. */
const { HANGING_SOCKET = '' } = process.env

it('never ends', { timeout: 0 }, async () => {
  const connection = connect(HANGING_SOCKET)
  connection.on('error', () => undefined)
  connection.write(`${process.ppid}`)
  expect(await once(connection, 'close')).toBeDefined()
})
