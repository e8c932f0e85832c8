"use strict";

// Draws triangles and lines into a canvas with a buffer of depths, so that what is in front hides
// what is behind, without WebGL, which many machines lack.  A point is [x, y, nearness] in pixels
// of the canvas; nearness must be linear on the screen, as one over the distance is.
class Raster {
  constructor(canvas) {
    this.brush = canvas.getContext("2d", { willReadFrequently: true });
    this.canvas = canvas;
  }

  clear(width, height) {
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = this.brush.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.near = new Float32Array(width * height);
    }
    this.pixels.fill(0);
    this.near.fill(-Infinity);
  }

  // Fills a triangle; only opaque ones hide what is drawn later behind them.
  triangle(p, q, r, colour, alpha) {
    const { width, height } = this.canvas;
    const area = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    if (!(Math.abs(area) > 1e-9)) return;
    const top = Math.max(0, Math.ceil(Math.min(p[1], q[1], r[1]) - 0.5));
    const bottom = Math.min(height - 1, Math.floor(Math.max(p[1], q[1], r[1]) - 0.5));
    const left = Math.max(0, Math.ceil(Math.min(p[0], q[0], r[0]) - 0.5));
    const right = Math.min(width - 1, Math.floor(Math.max(p[0], q[0], r[0]) - 0.5));
    const stepQ = (r[1] - p[1]) / area, stepR = (p[1] - q[1]) / area;
    const stepNear = stepQ * (q[2] - p[2]) + stepR * (r[2] - p[2]);
    for (let y = top; y <= bottom; y++) {
      const down = y + 0.5 - p[1], along = left + 0.5 - p[0];
      let shareQ = (along * (r[1] - p[1]) - down * (r[0] - p[0])) / area;
      let shareR = (down * (q[0] - p[0]) - along * (q[1] - p[1])) / area;
      let near = p[2] + shareQ * (q[2] - p[2]) + shareR * (r[2] - p[2]);
      for (let x = left, at = y * width + left; x <= right; x++, at++) {
        if (shareQ >= -1e-9 && shareR >= -1e-9 && shareQ + shareR <= 1 + 1e-9) {
          this.point(at, near, colour, alpha);
        }
        shareQ += stepQ;
        shareR += stepR;
        near += stepNear;
      }
    }
  }

  // Draws a line as wide as told, in pixels; ahead: how much in front of things it counts as.
  line(p, q, colour, alpha, wide, ahead = 0) {
    const steps = Math.ceil(Math.max(Math.abs(q[0] - p[0]), Math.abs(q[1] - p[1])));
    if (!(steps < 1e5)) return;
    const { width, height } = this.canvas, half = Math.floor(wide / 2);
    const steep = Math.abs(q[1] - p[1]) > Math.abs(q[0] - p[0]);
    for (let i = 0; i <= steps; i++) {
      const share = steps ? i / steps : 0;
      const x = Math.floor(p[0] + share * (q[0] - p[0]));
      const y = Math.floor(p[1] + share * (q[1] - p[1]));
      const near = p[2] + share * (q[2] - p[2]) + ahead;
      for (let k = -half; k < wide - half; k++) {
        const u = steep ? x + k : x, v = steep ? y : y + k;
        if (u >= 0 && v >= 0 && u < width && v < height) {
          this.point(v * width + u, near, colour, alpha);
        }
      }
    }
  }

  point(at, near, colour, alpha) {
    if (near < this.near[at]) return;
    if (alpha >= 1) {
      this.near[at] = near;
      this.pixels[at] = 0xff000000 | (colour[2] << 16) | (colour[1] << 8) | colour[0];
      return;
    }
    const under = this.pixels[at], cover = under >>> 24, left = (1 - alpha) * cover;
    const total = 255 * alpha + left;
    const mix = (own, shift) => (255 * alpha * own + left * ((under >> shift) & 255)) / total;
    this.pixels[at] = (Math.round(total) << 24) | (mix(colour[2], 16) << 16)
      | (mix(colour[1], 8) << 8) | mix(colour[0], 0);
  }

  show() {
    this.brush.putImageData(this.image, 0, 0);
  }
}
