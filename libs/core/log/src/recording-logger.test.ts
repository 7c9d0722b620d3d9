import { expect, it } from 'vitest'
import { recordingLogger } from './recording-logger.ts'

it('keeps the lines of children with the fields they add', () => {
  const logger = recordingLogger()
  const child = logger.child({ app: 'controller', feature: 'pod-port' })
  child.info('rows committed', { key: 'shop/web', inserted: 1 })
  child.child({ key: 'shop/api' }).debug('nothing differed')
  logger.warn('connection lost')
  expect(logger.lines).toEqual([
    {
      level: 'info',
      message: 'rows committed',
      fields: { app: 'controller', feature: 'pod-port', key: 'shop/web', inserted: 1 },
    },
    {
      level: 'debug',
      message: 'nothing differed',
      fields: { app: 'controller', feature: 'pod-port', key: 'shop/api' },
    },
    { level: 'warn', message: 'connection lost', fields: {} },
  ])
})
