"""Let pip install this package: CMake builds it, pip puts it in place.

colcon does not read this file; it runs CMakeLists.txt, as for any ament_cmake
package.  Here the same CMakeLists.txt is built and installed into a staging
folder, and what lies there becomes the content of the wheel.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from xml.etree import ElementTree as ET

from setuptools import Command, Distribution, find_packages, setup
from setuptools.command.build import build

HERE = Path(__file__).parent.resolve()
PACKAGE = ET.parse(HERE / "package.xml").getroot()
NAME = PACKAGE.findtext("name")
# site-packages, relative to the prefix (the virtual environment)
SITE = os.path.relpath(sysconfig.get_path("platlib"), sysconfig.get_path("data"))
IDL_COMMENT = re.compile(r'[ \t]*@verbatim \(language="comment", text=.*?"\)[ \t]*\n', re.DOTALL)


# Each is justified in docs/dependencies.md.
REQUIREMENTS = [
    "clarabel>=0.10,<0.12",
    "jsonschema>=4.10",
    "numba>=0.58",
    "numpy>=1.26,<3",
    "pyyaml>=6",
    "rich>=13",
    "scipy>=1.11",
]
# Where a ROS is sourced, its rosbag2_py reads bags too.
BAG_LIBRARIES = [
    "backports.zstd>=1; python_version<'3.14'",
    "lz4>=4",
    "rosbags>=0.11,<0.12",
]
# ROS 2 Jazzy; without == pip would mix in wheels of another distribution.
ROS_WHEELS = [
    "ros-action-msgs==2.0.3",
    "ros-ament-index-python==1.8.1",
    "ros-builtin-interfaces==2.0.3",
    "ros-diagnostic-msgs==5.3.6",
    "ros-geometry-msgs==5.3.6",
    "ros-lifecycle-msgs==2.0.3",
    "ros-rcl-interfaces==2.0.3",
    "ros-rclpy[fastrtps]==7.1.6",
    "ros-rosidl-default-runtime==1.6.0",
    "ros-sensor-msgs==5.3.6",
    "ros-std-msgs==5.3.6",
    "ros-std-srvs==5.3.6",
    "ros-trajectory-msgs==5.3.6",
]
EXTRAS = {
    "bags": BAG_LIBRARIES,
    "benchmark": [
        "example-robot-data>=4",
        "figaroh==1.0.2",
        "mujoco>=3.3,<5",
        "pin>=2.7",
        "threadpoolctl>=3",
    ],
    "collision": ["coal>=3"],
    "datasets": ["pooch>=1.8", "requests>=2.25"],
    "docs": [
        "furo>=2024.1",
        "latex2mathml>=3.77",
        "myst-parser>=3",
        "sphinx>=7,<10",
        "sphinx-argparse>=0.4",
    ],
    "mujoco": ["mujoco>=3.3,<5"],
    "mutants": ["cosmic-ray>=8.7,<9"],
    "parallel": ["distributed>=2026.1.1"],
    "report": ["jinja2>=3.1.6", "markupsafe>=2", "matplotlib>=3.6"],
    "test": [
        *BAG_LIBRARIES,
        "coal>=3",
        "distributed>=2026.1.1",
        "example-robot-data>=4",
        "furo>=2024.1",
        "hypothesis>=6.100",
        "import-linter>=2.0",
        "jinja2>=3.1.6",
        "latex2mathml>=3.77",
        "markupsafe>=2",
        "matplotlib>=3.6",
        "mujoco>=3.3,<5",
        "mypy>=1.11",
        "myst-parser>=3",
        "pin>=2.7",
        "pooch>=1.8",
        "pytest>=8",
        "pytest-timeout>=2.3",
        "pytest-xdist>=3.5",
        "requests>=2.25",
        "ruff>=0.12",
        "sphinx>=7,<10",
        "sphinx-argparse>=0.4",
        "types-PyYAML",
        "xacro>=2",
    ],
}
# The Makefile says so; pip alone takes the wheels.
ROS_IS_SOURCED = os.environ.get("ROBOT_IDENTIFICATION_ROS") == "sourced"
if not ROS_IS_SOURCED:
    EXTRAS["markers"] = ["ros-visualization-msgs==5.3.6"]
    EXTRAS["test"] += ["ros-rosgraph-msgs==2.0.3", *EXTRAS["markers"]]


def ros_prefixes():
    """Return the prefixes that hold ROS: the sourced ones, else pip-installed."""
    if ROS_IS_SOURCED:
        return os.environ["AMENT_PREFIX_PATH"]
    prefixes = []
    for entry in map(Path, sys.path):
        if len(entry.parents) > 2:
            prefix = entry.parents[2]  # PREFIX/lib/pythonX.Y/site-packages
            if (prefix / "share" / "ament_cmake_core").is_dir():
                prefixes.append(str(prefix))
    return ":".join(dict.fromkeys(prefixes))


def check_compiler():
    """Stop with advice where the two things pip cannot bring are missing."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not shutil.which(os.environ.get("CXX", "c++")) or not header.is_file():
        raise SystemExit(
            "The ROS interfaces need a C++ compiler and the Python headers.  "
            "On Debian or Ubuntu: apt-get install g++ python3-dev"
        )


class build_cmake(Command):
    """Build and stage CMakeLists.txt, then add the staged files."""

    description = "generate and compile the ROS interfaces"
    user_options = ()

    def initialize_options(self):
        self.build_lib = None
        self.build_temp = None
        self.editable_mode = False

    def finalize_options(self):
        self.set_undefined_options(
            "build", ("build_lib", "build_lib"), ("build_temp", "build_temp")
        )

    def get_source_files(self):
        return []

    def get_outputs(self):
        return []

    def get_output_mapping(self):
        return {}

    def run(self):
        check_compiler()
        temporary = Path(self.build_temp).resolve()
        stage = temporary / "stage"
        for folder in (temporary / "cmake", stage):
            shutil.rmtree(folder, ignore_errors=True)
        self.build_and_stage(temporary / "cmake", stage)
        self.distribution.data_files = self.sort_out(stage)

    def build_and_stage(self, work, stage):
        """Run CMake in the folder ``work`` and let it install into ``stage``."""
        prefixes = ros_prefixes()
        # Without build isolation nobody else puts the tools of this environment first.
        path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
        env = dict(os.environ, AMENT_PREFIX_PATH=prefixes, CMAKE_PREFIX_PATH=prefixes, PATH=path)
        cmake = shutil.which("cmake", path=path) or "cmake"
        configure = [
            *("-S", str(HERE), "-B", str(work)),
            *(("-G", "Ninja") if shutil.which("ninja", path=path) else ()),
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_INSTALL_PREFIX={stage}",
            f"-DPython3_EXECUTABLE={sys.executable}",
            f"-DPYTHON_SHEBANG={sys.executable}",
            "-DPYTHON_INSTALL_DIR=site",
            "-DBUILD_TESTING=OFF",
            "-DFOR_PIP=ON",
            # Files of the pinned wheels' generators are known to get on with each other.
            f"-DCOMPILE_TOGETHER={'OFF' if ROS_IS_SOURCED else 'ON'}",
        ]
        build = ["--build", str(work), "--target", "install", "--parallel", str(os.cpu_count())]
        subprocess.check_call([cmake, *configure], env=env)
        self.drop_comments(work / "rosidl_adapter")
        subprocess.check_call([cmake, *build], env=env)

    def drop_comments(self, folder):
        """Drop the comments of interfaces as six generators read them, each with a slow parser.

        With them the build takes half as long again.  What is installed to be read, the .msg,
        .srv and .action files, keeps them; types and their hashes do not depend on them.
        """
        for path in folder.rglob("*.idl"):
            path.write_text(IDL_COMMENT.sub("", path.read_text("utf-8")), "utf-8")

    def sort_out(self, stage):
        """Copy staged modules to where wheels take them from; return the rest as data files."""
        data = {}
        for path in sorted(p for p in stage.rglob("*") if p.is_file()):
            rel = path.relative_to(stage)
            if rel.parts[0] != "site":
                data.setdefault(str(rel.parent), []).append(str(path))
            elif rel.parts[1] != NAME or "__pycache__" in rel.parts:
                pass  # the egg-info, which pip replaces, and byte code
            elif (HERE / rel.relative_to("site")).exists():
                pass  # hand-written: the command build_py takes it
            elif self.editable_mode:
                target = Path(SITE, *rel.parts[1:-1])
                data.setdefault(str(target), []).append(str(path))
            else:
                target = Path(self.build_lib, *rel.parts[1:])
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)
        return sorted(data.items())


class BuildWithCMake(build):
    """The build of setuptools, and CMake's after it."""

    sub_commands = (*build.sub_commands, ("build_cmake", None))


class PlatformDistribution(Distribution):
    """The wheel holds compiled code, though no setuptools extension."""

    def has_ext_modules(self):
        return True

    def has_data(self):  # asked by "pip install -e", which else skips them
        return self.has_data_files()


setup(
    name=NAME,
    version=PACKAGE.findtext("version"),
    description=" ".join(PACKAGE.findtext("description").split()),
    license=PACKAGE.findtext("license"),
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_dir={"": "."},
    package_data={NAME: ["py.typed", "report/templates/*"]},
    data_files=[],
    python_requires=">=3.10",
    install_requires=REQUIREMENTS + ([] if ROS_IS_SOURCED else BAG_LIBRARIES + ROS_WHEELS),
    extras_require=EXTRAS,
    entry_points={
        "console_scripts": ["robot-identification = robot_identification.cli:start"],
    },
    cmdclass={"build": BuildWithCMake, "build_cmake": build_cmake},
    distclass=PlatformDistribution,
    zip_safe=False,
)
