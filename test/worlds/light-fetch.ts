/**
 * Replaces what the sandbox uses of Node's `Request` and `Response`, which read bodies through streams. That takes a
 * fifth of the time of a run. Only for processes that do nothing else.
 */

interface Init {
  readonly method?: string
  readonly status?: number
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: string
}

class Message {
  readonly headers: Headers
  readonly body: string

  constructor(body: string | null = '', { headers = {} }: Init = {}) {
    this.body = body ?? ''
    this.headers = new Headers(headers)
  }

  async text(): Promise<string> {
    return this.body
  }

  async json(): Promise<unknown> {
    return JSON.parse(this.body)
  }
}

class LightRequest extends Message {
  readonly url: string
  readonly method: string

  constructor(url: string, init: Init = {}) {
    super(init.body, init)
    this.url = url
    this.method = init.method ?? 'GET'
  }
}

class LightResponse extends Message {
  readonly status: number

  constructor(body?: string | null, init: Init = {}) {
    super(body, init)
    this.status = init.status ?? 200
  }

  clone(): LightResponse {
    return new LightResponse(this.body, this)
  }
}

Object.assign(globalThis, { Request: LightRequest, Response: LightResponse })
