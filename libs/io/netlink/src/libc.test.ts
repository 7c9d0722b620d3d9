import { statSync } from 'node:fs'
import { constants } from 'node:os'
import koffi from 'koffi'
import { expect, it, vi } from 'vitest'
import { errnoName, libcFunction } from './libc.ts'

const setns = libcFunction<[fd: number, type: number]>('int setns(int fd, int type)')

it('answers with the number of the error, whatever calls libc next', () => {
  const answer = setns(-1, 0)
  expect(() => statSync('/no/such/file')).toThrow('ENOENT')
  expect(answer).toBe(-constants.errno.EBADF)
  expect(errnoName(answer)).toBe('EBADF')
})

it('asks nobody for the number, who might leave another one there meanwhile', () => {
  using errno = vi.spyOn(koffi, 'errno').mockReturnValue(constants.errno.ENOENT)
  expect(setns(-1, 0)).toBe(-constants.errno.EBADF)
  expect(errno).not.toHaveBeenCalled()
})

it('answers with what the function answers when nothing went wrong', () => {
  const getpid = libcFunction<[]>('int getpid()')
  expect(getpid()).toBe(process.pid)
})

it.each([
  [constants.errno.EAGAIN, 'EAGAIN'],
  [4095, 'errno 4095'],
])('names the number %i', (number, name) => expect(errnoName(number)).toBe(name))
